/* Functions that a compiler calls to copy and clear memory, for images without a library. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
void __aeabi_memcpy(void *to, const void *from, size_t size);
void __aeabi_memcpy4(void *to, const void *from, size_t size);
void __aeabi_memclr(void *to, size_t size);
void __aeabi_memclr4(void *to, size_t size);
void __aeabi_memset4(void *to, size_t size, int value);

void *memcpy(void *to, const void *from, size_t size) {
  for (size_t i = 0; i < size; i++) ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
  return to;
}

void *memset(void *to, int value, size_t size) {
  for (size_t i = 0; i < size; i++) ((uint8_t *)to)[i] = (uint8_t)value;
  return to;
}

void __aeabi_memcpy(void *to, const void *from, size_t size) { memcpy(to, from, size); }
void __aeabi_memcpy4(void *to, const void *from, size_t size) { memcpy(to, from, size); }
void __aeabi_memclr(void *to, size_t size) { memset(to, 0, size); }
void __aeabi_memclr4(void *to, size_t size) { memset(to, 0, size); }
void __aeabi_memset4(void *to, size_t size, int value) { memset(to, value, size); }
