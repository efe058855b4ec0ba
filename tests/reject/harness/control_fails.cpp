static_assert(CASE > 0, "one");
#if CASE == 0
#elif CASE == 1
static_assert(false, "two");  // expect: two
#endif
