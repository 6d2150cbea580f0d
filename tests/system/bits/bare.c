/* Runs the stages without an operating system, a C library or a heap, on a Cortex-M4F and on RV32. Prints, reads and writes files
   and exits by semihosting. If there is a file in.images, goes on with its blocks; else runs all stages and writes their blocks
   to out.images. */
#include "bits.h"

#if defined __arm__

extern uint64_t data_begin[], data_end[], data_load[], bss_begin[], bss_end[];
extern char stack_top[];

static uint32_t semihosting(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

#else

extern uint64_t bss_begin[], bss_end[];

static uint32_t semihosting(uint32_t operation, const void *argument) {
  register uint32_t a0 __asm__("a0") = operation;
  register const void *a1 __asm__("a1") = argument;
  __asm__ volatile(
      ".option push\n .option norvc\n .balign 16\n"
      "slli zero, zero, 0x1f\n ebreak\n srai zero, zero, 7\n .option pop"
      : "+r"(a0) : "r"(a1) : "memory");
  return a0;
}

#endif

enum { OPEN = 0x01, WRITE0 = 0x04, WRITE = 0x05, READ = 0x06, EXIT_EXTENDED = 0x20, MODE_RB = 1, MODE_WB = 5 };

static void print(const char *text) { semihosting(WRITE0, text); }

static void leave(uint32_t code) {
  const uint32_t argument[2] = {0x20026, code};
  semihosting(EXIT_EXTENDED, argument);
  for (;;) {}
}

static uint32_t open(const char *name, uint32_t len, uint32_t mode) {
  const uint32_t argument[3] = {(uint32_t)name, mode, len};
  return semihosting(OPEN, argument);
}

/* Reads or writes a file; returns the number of bytes not transferred. */
static uint32_t move(uint32_t operation, uint32_t file, const uint8_t *bytes, uint32_t size) {
  const uint32_t argument[3] = {file, (uint32_t)bytes, size};
  return semihosting(operation, argument);
}

static uint32_t run(void) {
  static uint64_t room[BITS_IMAGES_SIZE / 8];
  uint8_t *images = (uint8_t *)room;
  const uint32_t in = open("in.images", 9, MODE_RB);
  if (in != UINT32_MAX) return bits_go_on(images, sizeof room - move(READ, in, images, sizeof room), print) != 0;
  const int failed = bits(print);
  const uint32_t size = (uint32_t)bits_save(images, print), out = open("out.images", 10, MODE_WB);
  return failed != 0 || size == 0 || out == UINT32_MAX || move(WRITE, out, images, size) != 0;
}

static void fault(void) {
  print("fault\n");
  leave(2);
}

#if defined __arm__

__attribute__((noreturn)) void reset(void) {
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;  /* CPACR: turn the floating-point unit on */
  __asm__ volatile("dsb\n isb");
  const volatile uint64_t *from = data_load;
  for (volatile uint64_t *p = data_begin; p < data_end; p++) *p = *from++;
  for (volatile uint64_t *p = bss_begin; p < bss_end; p++) *p = 0;
  leave(run());
  for (;;) {}
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault,
};

#else

__attribute__((noreturn, used)) void begin(void) {
  for (volatile uint64_t *p = bss_begin; p < bss_end; p++) *p = 0;
  leave(run());
  for (;;) {}
}

__attribute__((used, aligned(4))) void trap(void) { fault(); }

/* Sets the stack, the trap handler, and mstatus.FS, which turns the floating-point unit on. */
__asm__(
    ".section .init, \"ax\"\n .global reset\n"
    "reset: la sp, stack_top\n la t0, trap\n csrw mtvec, t0\n li t0, 0x2000\n csrs mstatus, t0\n csrw fcsr, zero\n"
    "j begin\n .text");

#endif
