#if CASE == 0
int a;
#elif CASE == 1
static_assert(false, "one");
#endif
