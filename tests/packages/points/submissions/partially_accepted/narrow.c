#include <stdio.h>

int main(void) {
  unsigned n;
  if (scanf("%u", &n) != 1) return 1;
  printf("%u\n", n * n);
}
