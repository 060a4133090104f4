#include <cstring>
#include <vector>

int main() {
  std::vector<char*> kept;
  for (;;) {
    kept.push_back(new char[1 << 24]);
    std::memset(kept.back(), 1, 1 << 24);
  }
}
