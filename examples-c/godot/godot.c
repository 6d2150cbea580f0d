#include "godot.h"

#include <string.h>

struct godot godot;

static name_t named(const char *text) {
  name_t name;
  godot.string_name_new_with_latin1_chars(&name, text, 0);
  return name;
}

static void destroy(GDExtensionVariantType type, void *value) {
  const GDExtensionPtrDestructor destructor = godot.variant_get_ptr_destructor(type);
  if (destructor) destructor(value); /* numbers have none */
}

static void forget(name_t name) { destroy(GDEXTENSION_VARIANT_TYPE_STRING_NAME, &name); }

/* Hashes of signatures, from the engine's extension_api.json: the same in 4.2 and 4.6, for all packed arrays. */
static GDExtensionPtrBuiltInMethod builtin(GDExtensionVariantType type, const char *text, GDExtensionInt hash) {
  const name_t name = named(text);
  const GDExtensionPtrBuiltInMethod found = godot.variant_get_ptr_builtin_method(type, &name, hash);
  forget(name);
  return found;
}

int64_t array_len(GDExtensionVariantType type, GDExtensionConstTypePtr array) {
  int64_t len = 0;
  builtin(type, "size", 3173160232)((GDExtensionTypePtr)array, NULL, &len, 0);
  return len;
}

void array_resize(GDExtensionVariantType type, GDExtensionTypePtr array, int64_t len) {
  int64_t failed = 0;
  const GDExtensionConstTypePtr arguments[] = {&len};
  builtin(type, "resize", 848867239)(array, arguments, &failed, 1);
}

/* From typed code: arguments and result are typed already. */
static void ptrcall(void *userdata, GDExtensionClassInstancePtr node, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr result) {
  ((const method *)userdata)->run(node, arguments, result);
}

/* From scripts: arguments and result are variants. */
static void call(void *userdata, GDExtensionClassInstancePtr node, const GDExtensionConstVariantPtr *given, GDExtensionInt num_given,
                 GDExtensionVariantPtr out, GDExtensionCallError *error) {
  const method *m = userdata;
  error->error = GDEXTENSION_CALL_OK;
  if (num_given != m->num_arguments) {
    error->error = num_given < m->num_arguments ? GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS : GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS;
    error->expected = m->num_arguments;
    return;
  }
  for (int i = 0; i < m->num_arguments; i++)
    if (godot.variant_get_type(given[i]) != m->arguments[i].type) {
      error->error = GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT;
      error->argument = i;
      error->expected = (int32_t)m->arguments[i].type;
      return;
    }
  value_t values[MAX_ARGUMENTS] = {0}, result = {0};
  GDExtensionConstTypePtr arguments[MAX_ARGUMENTS] = {0};
  for (int i = 0; i < m->num_arguments; i++) {
    godot.get_variant_to_type_constructor(m->arguments[i].type)(&values[i], (GDExtensionVariantPtr)given[i]);
    arguments[i] = &values[i];
  }
  if (m->result != GDEXTENSION_VARIANT_TYPE_NIL) godot.variant_get_ptr_constructor(m->result, 0)(&result, NULL);
  m->run(node, arguments, &result);
  if (m->result != GDEXTENSION_VARIANT_TYPE_NIL) {
    godot.get_variant_from_type_constructor(m->result)(out, &result);
    destroy(m->result, &result);
  }
  for (int i = 0; i < m->num_arguments; i++) destroy(m->arguments[i].type, &values[i]);
}

static GDExtensionObjectPtr create_instance(void *userdata) {
  const class_info *class = userdata;
  void *node = class->create();
  if (!node) return NULL;
  const name_t parent = named("Node"), own = named(class->name);
  const GDExtensionObjectPtr object = godot.classdb_construct_object(&parent);
  godot.object_set_instance(object, &own, node);
  forget(parent);
  forget(own);
  return object;
}

static void free_instance(void *userdata, GDExtensionClassInstancePtr node) { ((const class_info *)userdata)->release(node); }

static void register_method(const class_info *class, const method *m) {
  name_t own = named(class->name), name = named(m->name), names[MAX_ARGUMENTS + 1], nothing = named("");
  value_t hint;
  godot.string_new_with_utf8_chars(&hint, "");
  GDExtensionPropertyInfo values[MAX_ARGUMENTS + 1];
  GDExtensionClassMethodArgumentMetadata metadata[MAX_ARGUMENTS];
  for (int i = 0; i <= m->num_arguments; i++) {
    const bool is_result = i == m->num_arguments;
    names[i] = named(is_result ? "" : m->arguments[i].name);
    values[i] = (GDExtensionPropertyInfo){.type = is_result ? m->result : m->arguments[i].type, .name = &names[i], .class_name = &nothing,
                                          .hint_string = &hint, .usage = 6 /* PROPERTY_USAGE_DEFAULT */};
    if (!is_result) metadata[i] = GDEXTENSION_METHOD_ARGUMENT_METADATA_NONE;
  }
  const GDExtensionClassMethodInfo info = {
      .name = &name,
      .method_userdata = (void *)m,
      .call_func = call,
      .ptrcall_func = ptrcall,
      .method_flags = GDEXTENSION_METHOD_FLAGS_DEFAULT,
      .has_return_value = m->result != GDEXTENSION_VARIANT_TYPE_NIL,
      .return_value_info = &values[m->num_arguments],
      .return_value_metadata = GDEXTENSION_METHOD_ARGUMENT_METADATA_NONE,
      .argument_count = (uint32_t)m->num_arguments,
      .arguments_info = values,
      .arguments_metadata = metadata,
  };
  godot.classdb_register_extension_class_method(godot.library, &own, &info);
  for (int i = 0; i <= m->num_arguments; i++) forget(names[i]);
  forget(own);
  forget(name);
  forget(nothing);
  destroy(GDEXTENSION_VARIANT_TYPE_STRING, &hint);
}

void register_class(const class_info *class) {
  const name_t own = named(class->name), parent = named("Node");
  const GDExtensionClassCreationInfo2 info = {
      .is_exposed = 1,
      .create_instance_func = create_instance,
      .free_instance_func = free_instance,
      .class_userdata = (void *)class,
  };
  godot.classdb_register_extension_class2(godot.library, &own, &parent, &info);
  for (int i = 0; i < class->num_methods; i++) register_method(class, &class->methods[i]);
  forget(own);
  forget(parent);
}

void unregister_class(const class_info *class) {
  const name_t own = named(class->name);
  godot.classdb_unregister_extension_class(godot.library, &own);
  forget(own);
}

bool load_godot(GDExtensionInterfaceGetProcAddress find, GDExtensionClassLibraryPtr library) {
  godot.library = library;
  bool all = true;
#define FIND(function) \
  do { \
    const GDExtensionInterfaceFunctionPtr found = find(#function); \
    memcpy(&godot.function, &found, sizeof found); \
    all = all && found; \
  } while (0)
  FIND(string_new_with_utf8_chars);
  FIND(string_name_new_with_latin1_chars);
  FIND(classdb_register_extension_class2);
  FIND(classdb_register_extension_class_method);
  FIND(classdb_unregister_extension_class);
  FIND(classdb_construct_object);
  FIND(object_set_instance);
  FIND(variant_get_type);
  FIND(variant_get_ptr_builtin_method);
  FIND(variant_get_ptr_constructor);
  FIND(variant_get_ptr_destructor);
  FIND(get_variant_from_type_constructor);
  FIND(get_variant_to_type_constructor);
  FIND(packed_byte_array_operator_index);
  FIND(packed_byte_array_operator_index_const);
  FIND(packed_int32_array_operator_index);
  FIND(packed_float32_array_operator_index_const);
#undef FIND
  return all;
}
