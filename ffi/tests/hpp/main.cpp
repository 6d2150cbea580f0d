/* Tests of rlcore.hpp beyond the C interface: views, ownership, environments from a class of every kind, the pool. */
#include "test.h"

int main() {
  views();
  environments();
  pools();
  learners();
  learners_handed_over();
  failures_are_described();
  every_class();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
