#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

/// What benchmarks print.
namespace trainyard::bench {

/// A figure, on a line of its own.
inline void Print(const char* what, double value, const char* unit) {
  std::printf("%-72s %12.1f %s\n", what, value, unit);
  std::fflush(stdout);
}

/// The value below which the given part of all values lies (a quantile); 0 if there are none.
inline double Quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto at =
      std::min(values.size() - 1, static_cast<std::size_t>(part * static_cast<double>(values.size())));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(at));
  return values[at];
}

/// Bytes that the process has allocated and not freed.
inline std::size_t HeldBytes() { return mallinfo2().uordblks; }

inline double ResidentMib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmRSS:") continue;
  double kib = 0;
  status >> kib;
  return kib / 1024;
}

}  // namespace trainyard::bench
