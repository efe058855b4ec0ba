#if CASE == 0
int a;
#elif CASE == 1
static_assert(false, "one");  // expect: one
static_assert(false, "two");
#endif
