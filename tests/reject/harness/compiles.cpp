#if CASE == 0
int a;
#elif CASE == 1
int b;  // expect: something
#endif
