// What a benchmarked replica runs, linked statically: as soon as it is in main it notes the time.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

int main(int argc, char** argv) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const char* mode = argc > 3 ? argv[3] : "";  // python -m MODULE MODE
  if (std::strcmp(mode, "lines") == 0) {
    const int lines = std::atoi(argv[4]);
    for (int i = 0; i < lines; ++i)
      std::printf("step %d of the training: loss 0.123456, accuracy 0.987654, 1234 examples/s\n", i);
    return 0;
  }
  std::printf("started %lld\n", static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec);
  std::fflush(stdout);
  if (std::strcmp(mode, "wait") == 0) pause();
  return 0;
}
