/* Runs the stages on a bare Cortex-M4F: no operating system, no C library, no heap. Prints and exits by semihosting. */
#include "bits.h"

extern uint64_t data_begin[], data_end[], data_load[], bss_begin[], bss_end[];
extern char stack_top[];

static uint32_t semihosting(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static void print(const char *text) { semihosting(0x04, text); }            /* SYS_WRITE0 */

static void leave(uint32_t code) {                                          /* SYS_EXIT_EXTENDED */
  const uint32_t argument[2] = {0x20026, code};
  semihosting(0x20, argument);
  for (;;) {}
}

__attribute__((noreturn)) void reset(void) {
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;                           /* CPACR: turn the floating-point unit on */
  __asm__ volatile("dsb\n isb");
  const volatile uint64_t *from = data_load;
  for (volatile uint64_t *p = data_begin; p < data_end; p++) *p = *from++;
  for (volatile uint64_t *p = bss_begin; p < bss_end; p++) *p = 0;
  leave(bits(print) == 0 ? 0 : 1);
  for (;;) {}
}

static void fault(void) {
  print("fault\n");
  leave(2);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault,
};
