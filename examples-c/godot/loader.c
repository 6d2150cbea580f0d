/* No engine: this stands in for the part of Godot that an extension meets, so that CI can load librlcore_godot.so, make a node
   of it and call its methods, as a script (variants) and as typed code (ptrcall). It is written from gdextension_interface.h and
   shows that the extension keeps to that header; that Godot keeps to its own header, only Godot shows.
   `loader <librlcore_godot.so>` trains the node, saves it, goes on from the save, and counts values that the extension has not freed. */
#include <dlfcn.h>
#include <gdextension_interface.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(holds) do if (!(holds)) { fprintf(stderr, "loader.c:%d: %s\n", __LINE__, #holds); exit(1); } while (0)
#define INT GDEXTENSION_VARIANT_TYPE_INT
#define FLOATS GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY
#define INTS GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY
#define BYTES GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY
#define STRING GDEXTENSION_VARIANT_TYPE_STRING
#define NAME GDEXTENSION_VARIANT_TYPE_STRING_NAME

/* ---- Values: texts own memory, arrays own memory with their length before it ---- */

typedef struct {
  char *text;
} text_t;
typedef struct {
  int64_t len;
  char *data;
} array_t;
typedef union {
  array_t array;
  text_t text;
  int64_t i;
  double f;
  uint8_t b;
} value_t;
typedef struct {
  uint32_t type;
  value_t value;
} variant_t; /* 24 bytes, as the engine's */

static int live; /* texts and arrays with memory that are not freed */

static void *owned(size_t size) {
  void *mem = calloc(1, size + 1);
  NEED(mem);
  live++;
  return mem;
}
static void disown(void *mem) {
  if (mem) live--;
  free(mem);
}
static void text_new(text_t *out, const char *from) { strcpy(out->text = owned(strlen(from)), from); }
static void string_new(void *out, const char *from) { text_new(out, from); }
static void name_new(void *out, const char *from, GDExtensionBool is_static) {
  (void)is_static;
  text_new(out, from);
}
static const char *text_of(const void *name) { return ((const text_t *)name)->text; }

static bool is_array(uint32_t type) { return type == FLOATS || type == INTS || type == BYTES; }
static bool is_text(uint32_t type) { return type == STRING || type == NAME; }
static size_t element(uint32_t type) { return type == BYTES ? 1 : 4; }
static size_t bytes_of(uint32_t type) { return is_array(type) ? sizeof(array_t) : type == GDEXTENSION_VARIANT_TYPE_BOOL ? 1 : 8; }

static void value_copy(uint32_t type, void *out, const void *from) {
  memcpy(out, from, bytes_of(type));
  if (is_text(type)) text_new(out, text_of(from) ? text_of(from) : "");
  if (is_array(type) && ((array_t *)out)->data) {
    array_t *array = out;
    const size_t size = (size_t)array->len * element(type);
    memcpy(array->data = owned(size), ((const array_t *)from)->data, size);
  }
}
static void value_destroy(uint32_t type, void *value) {
  if (is_text(type)) disown(((text_t *)value)->text);
  if (is_array(type)) disown(((array_t *)value)->data);
}
static void resize(uint32_t type, array_t *array, int64_t len) {
  void *data = len ? owned((size_t)len * element(type)) : NULL;
  if (data && array->data) memcpy(data, array->data, (size_t)(len < array->len ? len : array->len) * element(type));
  disown(array->data);
  *array = (array_t){len, data};
}
static void *index_of(const void *self, int64_t i, size_t size) {
  const array_t *array = self;
  NEED(i >= 0 && i < array->len);
  return array->data + (size_t)i * size;
}
static uint8_t *byte_at(void *self, GDExtensionInt i) { return index_of(self, i, 1); }
static const uint8_t *const_byte_at(const void *self, GDExtensionInt i) { return index_of(self, i, 1); }
static int32_t *int_at(void *self, GDExtensionInt i) { return index_of(self, i, 4); }
static const float *const_float_at(const void *self, GDExtensionInt i) { return index_of(self, i, 4); }

/* ---- Functions by type: one of each for the types that the extension asks for ---- */

#define OF_TYPE(own) \
  static void from_##own(void *out, void *value) { \
    ((variant_t *)out)->type = own; \
    value_copy(own, &((variant_t *)out)->value, value); \
  } \
  static void to_##own(void *out, void *variant) { \
    NEED(((variant_t *)variant)->type == own); \
    value_copy(own, out, &((variant_t *)variant)->value); \
  } \
  static void new_##own(void *out, const void *const *none) { \
    (void)none; \
    memset(out, 0, bytes_of(own)); \
  } \
  static void destroy_##own(void *value) { value_destroy(own, value); } \
  static void size_##own(void *self, const void *const *none, void *out, int num) { \
    (void)none; \
    NEED(num == 0); \
    *(int64_t *)out = ((array_t *)self)->len; \
  } \
  static void resize_##own(void *self, const void *const *len, void *out, int num) { \
    NEED(num == 1); \
    resize(own, self, *(const int64_t *)len[0]); \
    *(int64_t *)out = 0; \
  }
#define BOOL GDEXTENSION_VARIANT_TYPE_BOOL
#define FLOAT GDEXTENSION_VARIANT_TYPE_FLOAT
#define TYPES(with) with(BOOL) with(INT) with(FLOAT) with(STRING) with(NAME) with(BYTES) with(INTS) with(FLOATS)
TYPES(OF_TYPE)

static const struct {
  uint32_t type;
  GDExtensionVariantFromTypeConstructorFunc from;
  GDExtensionTypeFromVariantConstructorFunc to;
  GDExtensionPtrConstructor make;
  GDExtensionPtrDestructor destroy;
  GDExtensionPtrBuiltInMethod size, resize;
} types[] = {
#define ROW(type) {type, from_##type, to_##type, new_##type, destroy_##type, size_##type, resize_##type},
    TYPES(ROW)};

static size_t row_of(uint32_t type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].type == type) return i;
  NEED(!"a type that is not here");
  return 0;
}
static GDExtensionVariantFromTypeConstructorFunc from_type(GDExtensionVariantType type) { return types[row_of(type)].from; }
static GDExtensionTypeFromVariantConstructorFunc to_type(GDExtensionVariantType type) { return types[row_of(type)].to; }
static GDExtensionPtrConstructor constructor(GDExtensionVariantType type, int32_t number) {
  NEED(number == 0);
  return types[row_of(type)].make;
}
static GDExtensionPtrDestructor destructor(GDExtensionVariantType type) {
  return is_text(type) || is_array(type) ? types[row_of(type)].destroy : NULL;
}
static GDExtensionVariantType variant_type(const void *variant) { return (GDExtensionVariantType)((const variant_t *)variant)->type; }
static GDExtensionPtrBuiltInMethod builtin_method(GDExtensionVariantType type, const void *name, GDExtensionInt hash) {
  NEED(is_array(type));
  if (!strcmp(text_of(name), "size") && hash == 3173160232) return types[row_of(type)].size;
  if (!strcmp(text_of(name), "resize") && hash == 848867239) return types[row_of(type)].resize;
  return NULL;
}

/* ---- Classes ---- */

typedef struct {
  char name[32];
  GDExtensionClassMethodInfo info;
  GDExtensionVariantType result, arguments[8];
} method_t;
static char class_name[32];
static GDExtensionClassCreationInfo2 class_info;
static method_t methods[16];
static int num_methods;
typedef struct {
  void *instance;
} object_t;

static void register_class(void *library, const void *name, const void *parent, const GDExtensionClassCreationInfo2 *info) {
  NEED(library == &num_methods && !strcmp(text_of(parent), "Node") && info->create_instance_func && info->free_instance_func);
  snprintf(class_name, sizeof class_name, "%s", text_of(name));
  class_info = *info;
}
static void register_method(void *library, const void *name, const GDExtensionClassMethodInfo *info) {
  NEED(library == &num_methods && !strcmp(text_of(name), class_name) && num_methods < 16 && info->argument_count <= 8);
  method_t *m = &methods[num_methods++];
  *m = (method_t){.info = *info, .result = info->has_return_value ? info->return_value_info->type : GDEXTENSION_VARIANT_TYPE_NIL};
  snprintf(m->name, sizeof m->name, "%s", text_of(info->name));
  for (uint32_t i = 0; i < info->argument_count; i++) {
    NEED(strlen(text_of(info->arguments_info[i].name)) > 0 && text_of(info->arguments_info[i].hint_string));
    m->arguments[i] = info->arguments_info[i].type;
  }
}
static void unregister_class(void *library, const void *name) {
  NEED(library == &num_methods && !strcmp(text_of(name), class_name));
  class_name[0] = 0;
}
static void *construct(const void *name) {
  NEED(!strcmp(text_of(name), "Node"));
  return calloc(1, sizeof(object_t));
}
static void set_instance(void *object, const void *name, void *instance) {
  NEED(!strcmp(text_of(name), class_name));
  ((object_t *)object)->instance = instance;
}

static GDExtensionInterfaceFunctionPtr find(const char *name) {
#define IS(own, function) \
  if (!strcmp(name, own)) return (GDExtensionInterfaceFunctionPtr)(void (*)(void))(function)
  IS("string_new_with_utf8_chars", string_new);
  IS("string_name_new_with_latin1_chars", name_new);
  IS("classdb_register_extension_class2", register_class);
  IS("classdb_register_extension_class_method", register_method);
  IS("classdb_unregister_extension_class", unregister_class);
  IS("classdb_construct_object", construct);
  IS("object_set_instance", set_instance);
  IS("variant_get_type", variant_type);
  IS("variant_get_ptr_builtin_method", builtin_method);
  IS("variant_get_ptr_constructor", constructor);
  IS("variant_get_ptr_destructor", destructor);
  IS("get_variant_from_type_constructor", from_type);
  IS("get_variant_to_type_constructor", to_type);
  IS("packed_byte_array_operator_index", byte_at);
  IS("packed_byte_array_operator_index_const", const_byte_at);
  IS("packed_int32_array_operator_index", int_at);
  IS("packed_float32_array_operator_index_const", const_float_at);
  return NULL;
}

/* ---- A game ---- */

static object_t *instantiate(void) { return class_info.create_instance_func(class_info.class_userdata); }
static void release(object_t *object) {
  class_info.free_instance_func(class_info.class_userdata, object->instance);
  free(object);
}
static method_t *method(const char *name) {
  for (int i = 0; i < num_methods; i++)
    if (!strcmp(methods[i].name, name)) return &methods[i];
  NEED(!"a method that is not there");
  return NULL;
}
/* As typed code: the result is there already. */
static void typed(object_t *object, const char *name, const void *const *arguments, void *result) {
  const method_t *m = method(name);
  m->info.ptrcall_func(m->info.method_userdata, object->instance, arguments, result);
}
/* As a script: copies into variants. Returns the error; the result is a variant. */
static GDExtensionCallError script(object_t *object, const char *name, int num, const variant_t *arguments, variant_t *result) {
  const method_t *m = method(name);
  const void *given[8];
  for (int i = 0; i < num; i++) given[i] = &arguments[i];
  GDExtensionCallError error = {0};
  memset(result, 0, sizeof *result);
  m->info.call_func(m->info.method_userdata, object->instance, given, num, result, &error);
  return error;
}
static int64_t number(object_t *object, const char *name) {
  int64_t out = 7;
  typed(object, name, NULL, &out);
  return out;
}
static void says(object_t *object, const char *text) {
  text_t error;
  text_new(&error, "of before");
  typed(object, "error", NULL, &error);
  if (!strstr(error.text, text)) fprintf(stderr, "error(): %s\n", error.text);
  NEED(strstr(error.text, text));
  disown(error.text);
}

enum { N = 8 };
static float at[N], speed[N];
static int steps[N];
static uint32_t drawn = 1;

static void begin(int i) {
  drawn = drawn * 1664525 + 1013904223;
  at[i] = (float)(drawn >> 8) / (float)(1 << 24) - 0.5F;
  speed[i] = 0;
  steps[i] = 0;
}
static void show(array_t *obs, int i) {
  ((float *)obs->data)[2 * i] = at[i];
  ((float *)obs->data)[2 * i + 1] = speed[i];
}

/* So many frames of carts that are to stay at 0; every other frame as a script. */
static void play(object_t *node, int frames) {
  array_t obs = {0}, action = {0}, reward = {0}, ended = {0}, last = {0};
  resize(FLOATS, &obs, 2 * N);
  resize(FLOATS, &last, 2 * N);
  resize(FLOATS, &reward, N);
  resize(BYTES, &ended, N);
  for (int i = 0; i < N; i++) begin(i), show(&obs, i);
  for (int frame = 0; frame < frames; frame++) {
    uint8_t ok = 0;
    if (number(node, "due") == 2) {
      const int64_t slices = 4;
      typed(node, "learn", (const void *const[]){&obs, &slices}, &ok);
      NEED(ok);
      continue;
    }
    if (frame % 2) {
      typed(node, "act", (const void *const[]){&obs}, &action);
    } else {
      variant_t given = {.type = FLOATS, .value.array = obs}, result;
      NEED(script(node, "act", 1, &given, &result).error == GDEXTENSION_CALL_OK && result.type == INTS);
      disown(action.data);
      action = result.value.array;
    }
    NEED(action.len == N);
    for (int i = 0; i < N; i++) {
      speed[i] += (float)(((int32_t *)action.data)[i] - 1) * 0.02F;
      at[i] += speed[i] * 0.02F;
      show(&obs, i);
      ((float *)reward.data)[i] = 1 - at[i] * at[i];
      ended.data[i] = at[i] > 1 || at[i] < -1 ? 1 : ++steps[i] == 200 ? 2 : 0;
      if (!ended.data[i]) continue;
      memcpy((float *)last.data + 2 * i, (float *)obs.data + 2 * i, 8);
      begin(i);
      show(&obs, i);
    }
    typed(node, "observe", (const void *const[]){&reward, &ended, &last}, &ok);
    NEED(ok);
  }
  disown(obs.data), disown(action.data), disown(reward.data), disown(ended.data), disown(last.data);
}

static double mean_return(object_t *node) {
  double out = -1;
  typed(node, "mean_return", NULL, &out);
  return out;
}
static array_t save(object_t *node) {
  array_t bytes = {0};
  typed(node, "save", NULL, &bytes);
  return bytes;
}

static void refusals(object_t *node) {
  variant_t given[4] = {{.type = INT, .value.i = N}, {.type = INT, .value.i = 2}, {.type = INT, .value.i = 3}, {.type = INT, .value.i = 1}}, result;
  uint8_t ok = 1;
  array_t few = {0}, action = {0}, none = save(node);
  NEED(none.len == 0);
  says(node, "call create or load first");
  NEED(script(node, "create", 3, given, &result).error == GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS);
  given[2].type = FLOAT;
  GDExtensionCallError error = script(node, "create", 4, given, &result);
  NEED(error.error == GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT && error.argument == 2 && error.expected == INT);
  given[2].type = INT;
  given[0].value.i = 0;
  NEED(script(node, "create", 4, given, &result).error == GDEXTENSION_CALL_OK && result.type == BOOL && !result.value.b);
  says(node, "RLCORE_E_RANGE: create: numbers of at least 1");
  given[0].value.i = N;
  NEED(script(node, "create", 4, given, &result).error == GDEXTENSION_CALL_OK && result.value.b);
  resize(FLOATS, &few, 3);
  resize(INTS, &action, 5); /* of a call before */
  typed(node, "act", (const void *const[]){&few}, &action);
  NEED(action.len == 0);
  says(node, "RLCORE_E_SHAPE: act: obs has another length");
  resize(BYTES, &few, 100);
  typed(node, "load", (const void *const[]){&few}, &ok);
  NEED(!ok);
  disown(few.data);
}

int main(int argc, char **argv) {
  NEED(argc == 2 && sizeof(variant_t) == 24);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  NEED(library);
  GDExtensionInitializationFunction init;
  void *symbol = dlsym(library, "rlcore_godot_init");
  memcpy(&init, &symbol, sizeof init);
  GDExtensionInitialization levels = {0};
  NEED(init && init(find, &num_methods, &levels));
  for (int level = 0; level <= GDEXTENSION_INITIALIZATION_SCENE; level++) levels.initialize(levels.userdata, level);
  NEED(!strcmp(class_name, "RlcoreLearner") && num_methods == 9 && live == 0);

  object_t *node = instantiate();
  refusals(node);
  play(node, 12000);
  array_t first = save(node);
  object_t *again = instantiate();
  uint8_t ok = 0;
  typed(again, "load", (const void *const[]){&first}, &ok);
  NEED(ok);
  array_t second = save(again);
  NEED(first.len > 0 && second.len == first.len && !memcmp(first.data, second.data, (size_t)first.len));
  printf("%d methods; a return of %.0f of 200 after 12000 frames, saved in %lld bytes and loaded\n", num_methods, mean_return(node),
         (long long)first.len);
  NEED(mean_return(node) > 180);
  first.data[first.len / 2] ^= 1;
  typed(again, "load", (const void *const[]){&first}, &ok);
  NEED(!ok);
  says(again, "RLCORE_E_IMAGE");
  disown(first.data), disown(second.data);
  release(node);
  release(again);
  levels.deinitialize(levels.userdata, GDEXTENSION_INITIALIZATION_SCENE);
  NEED(class_name[0] == 0);
  NEED(live == 0);
  return dlclose(library);
}
