// The forms of an expectation; this one passes.
template <int... N>
struct rule_is_broken;
template <int N>
auto check() {
  if constexpr (N < 10) return N;
  else return rule_is_broken<N, 10>();
}
#if CASE == 0
int a[] = {check<1>(), check<2>()};
#elif CASE == 1
static_assert(sizeof(int[2]) == 1);  // expect: static assertion|static_assert
#elif CASE == 2
// expect: incomplete type|undefined template
int b = sizeof(rule_is_broken<1, 10>);
#elif CASE == 3
// expect: rule_is_broken<[0-9]+, 10>
const char* backslash = "\\;[";
int c = sizeof(rule_is_broken<12, 10>);  // expect-here
#endif
