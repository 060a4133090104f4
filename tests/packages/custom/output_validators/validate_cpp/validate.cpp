// Usage: validate INPUT ANSWER FEEDBACK/ [FLAGS] < OUTPUT. 42 is right, 43 wrong.
#include "verdict.h"

int main(int argc, char** argv) {
  std::ifstream input(argv[1]);
  long long sum, a, b;
  std::string more;
  input >> sum;
  if (argc < 5 || std::string(argv[4]) != "pair") return 1;
  if (sum < 0 && (argc < 6 || std::string(argv[5]) != "negative_too")) return 1;
  if (!(std::cin >> a >> b)) wrong(argv[3], "expected two numbers");
  if (std::cin >> more) wrong(argv[3], "more than two numbers");
  if (a + b != sum) wrong(argv[3], "the sum is another");
  return kRight;
}
