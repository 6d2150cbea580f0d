/* Views, results and owned bytes. */
#include "test.h"

namespace {

void spans_and_results() {
  int array[3] = {1, 2, 3};
  std::vector<int> vector = {4, 5};
  const std::vector<int> fixed = {6};
  rlcore::span<int> a = array, b = vector;
  rlcore::span<const int> c = fixed, d = a, e = vector;
  CHECK(a.size() == 3 && b[1] == 5 && c[0] == 6 && d.data() == array && e.size_bytes() == 2 * sizeof(int));
  CHECK(a.subspan(1, 2)[1] == 3 && rlcore::span<int>().empty());
  static_assert(!std::is_convertible_v<const std::vector<int> &, rlcore::span<int>>, "const stays const");
  static_assert(!std::is_convertible_v<rlcore::span<const int>, rlcore::span<int>>, "const stays const");
  const auto size_of = [](rlcore::span<const int> s) { return s.size(); };
  CHECK(size_of(std::vector<int>{1, 2, 3}) == 3 && size_of(array) == 3 && size_of(fixed) == 1 && size_of(a) == 3);
  static_assert(!std::is_convertible_v<std::vector<int>, rlcore::span<int>>, "what is written into a temporary is lost");
  static_assert(!std::is_convertible_v<std::vector<float>, rlcore::span<const int>>, "elements stay what they are");
  int sum = 0;
  for (const int x : d) sum += x;
  CHECK(sum == 6);
  CHECK(rlcore::hash("foobar", 6) == 0x85944171f73967e8u && rlcore::hash(nullptr, 1) == 0);
  const rlcore::status bad = RLCORE_E_SIZE;
  CHECK(!bad && !bad.ok() && std::string(bad.name()) == "RLCORE_E_SIZE" && bad.text() != nullptr && bad != rlcore::status(RLCORE_OK));
}

void memory_is_owned() {
  rlcore::memory one(100), two = one;
  CHECK(one.data() != two.data() && two.size() == 100 && reinterpret_cast<std::size_t>(one.data()) % 64 == 0);
  one.data()[7] = 9;
  two = one;
  CHECK(two.data()[7] == 9);
  const unsigned char *at = two.data();
  rlcore::memory three = std::move(two);
  CHECK(three.data() == at && two.data() == nullptr && two.size() == 0);
  three = std::move(one);
  CHECK(three.data()[7] == 9);
  rlcore::memory &same = three;
  three = same;
  CHECK(three.size() == 100 && three.data()[7] == 9);
  rlcore::memory none;
  three = none;
  CHECK(three.size() == 0);
}

}  // namespace

void views() {
  spans_and_results();
  memory_is_owned();
}
