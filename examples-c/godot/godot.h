/* The calls of Godot's GDExtension interface that an extension in C needs, looked up once, and helpers over them. */
#ifndef RLCORE_GODOT_H
#define RLCORE_GODOT_H

#include <gdextension_interface.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names and arrays of the engine: as many bytes as a 64-bit engine gives them. */
typedef struct {
  uint64_t word;
} name_t;
typedef union {
  uint64_t words[2];
  int64_t i;
  double f;
  uint8_t b;
} value_t;

/* The engine's functions, NULL before load_godot. */
extern struct godot {
  GDExtensionClassLibraryPtr library;
  GDExtensionInterfaceStringNewWithUtf8Chars string_new_with_utf8_chars;
  GDExtensionInterfaceStringNameNewWithLatin1Chars string_name_new_with_latin1_chars;
  GDExtensionInterfaceClassdbRegisterExtensionClass2 classdb_register_extension_class2;
  GDExtensionInterfaceClassdbRegisterExtensionClassMethod classdb_register_extension_class_method;
  GDExtensionInterfaceClassdbUnregisterExtensionClass classdb_unregister_extension_class;
  GDExtensionInterfaceClassdbConstructObject classdb_construct_object;
  GDExtensionInterfaceObjectSetInstance object_set_instance;
  GDExtensionInterfaceVariantGetType variant_get_type;
  GDExtensionInterfaceVariantGetPtrBuiltinMethod variant_get_ptr_builtin_method;
  GDExtensionInterfaceVariantGetPtrConstructor variant_get_ptr_constructor;
  GDExtensionInterfaceVariantGetPtrDestructor variant_get_ptr_destructor;
  GDExtensionInterfaceGetVariantFromTypeConstructor get_variant_from_type_constructor;
  GDExtensionInterfaceGetVariantToTypeConstructor get_variant_to_type_constructor;
  GDExtensionInterfacePackedByteArrayOperatorIndex packed_byte_array_operator_index;
  GDExtensionInterfacePackedByteArrayOperatorIndexConst packed_byte_array_operator_index_const;
  GDExtensionInterfacePackedInt32ArrayOperatorIndex packed_int32_array_operator_index;
  GDExtensionInterfacePackedFloat32ArrayOperatorIndexConst packed_float32_array_operator_index_const;
} godot;

/* A method of a class: its name, the types and names of its arguments, and the function behind it, which reads arguments and
   writes to a result that is there already. */
enum { MAX_ARGUMENTS = 4 };
typedef struct method {
  const char *name;
  GDExtensionVariantType result; /* NIL: none */
  int num_arguments;
  struct {
    GDExtensionVariantType type;
    const char *name;
  } arguments[MAX_ARGUMENTS];
  void (*run)(void *node, const GDExtensionConstTypePtr *arguments, GDExtensionTypePtr result);
} method;

/* Finds all functions; false if the engine lacks one. */
bool load_godot(GDExtensionInterfaceGetProcAddress find, GDExtensionClassLibraryPtr library);

/* Registers a class with its methods, derived from Node. create and release: of the node's own memory. */
typedef struct class_info {
  const char *name;
  const method *methods;
  int num_methods;
  void *(*create)(void);
  void (*release)(void *node);
} class_info;
void register_class(const class_info *class);
void unregister_class(const class_info *class);

/* Elements of an array of the engine; another number of them. */
int64_t array_len(GDExtensionVariantType type, GDExtensionConstTypePtr array);
void array_resize(GDExtensionVariantType type, GDExtensionTypePtr array, int64_t len);

#endif
