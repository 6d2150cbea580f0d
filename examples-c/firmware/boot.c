/* Startup code of a Cortex-M4F: vector table, FPU, memory. Output and exit use semihosting. */
#include "boot.h"

#include <stddef.h>

extern uint32_t data_begin[], data_end[], data_load[], bss_begin[], bss_end[];
extern char stack_top[];

enum { UNUSED = 0x5A5A5A5A }; /* pattern of stack memory that was never written */

static uint32_t semihosting(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void print(const char *text) { semihosting(0x04, text); } /* SYS_WRITE0 */

void print_number(uint32_t number) {
  char text[11] = {0}, *at = text + 10;
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  print(at);
}

static _Noreturn void leave(uint32_t code) {
  const uint32_t argument[2] = {0x20026, code};
  semihosting(0x20, argument); /* SYS_EXIT_EXTENDED */
  for (;;) {}
}

_Noreturn void reset(void) {
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* CPACR: turn the floating-point unit on */
  __asm__ volatile("dsb\n isb");
  const volatile uint32_t *from = data_load;
  for (volatile uint32_t *p = data_begin; p < data_end; p++) *p = *from++;
  for (volatile uint32_t *p = bss_begin; p < bss_end; p++) *p = 0;
  uint32_t *const low = bss_end, *const high = (uint32_t *)__builtin_frame_address(0) - 64;
  for (volatile uint32_t *p = low; p < high; p++) *p = UNUSED;
  const int code = run();
  const volatile uint32_t *deepest = low;
  while (deepest < high && *deepest == UNUSED) deepest++;
  print_number((uint32_t)(stack_top - (const volatile char *)deepest));
  print(deepest == low ? " bytes of stack: too few\n" : " bytes of stack used\n");
  leave(deepest == low ? 3 : (uint32_t)code);
}

static void fault(void) {
  print("fault\n");
  leave(2);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault,
};
