#include "rules/tuning/design.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "rules/tuning/random.h"

namespace trainyard::tuning {
namespace {

constexpr std::uint64_t kDesignStream = 0x64657369;
constexpr std::array kPrimes{2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37,
                             41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89};
constexpr double kUnitMax = 1 - 1e-12;

double Halton(std::uint64_t index, int base, Random& random) {
  std::vector<int> digits(static_cast<std::size_t>(base));
  std::iota(digits.begin(), digits.end(), 0);
  for (int i = base - 1; i > 0; --i) {
    std::swap(digits[static_cast<std::size_t>(i)], digits[static_cast<std::size_t>(random.Below(i + 1))]);
  }
  double value = 0;
  double share = 1;
  while (share > 1e-9) {
    share /= base;
    value += share * digits[index % static_cast<std::uint64_t>(base)];
    index /= static_cast<std::uint64_t>(base);
  }
  return std::min(value, kUnitMax);
}

}  // namespace

Encoding::Place DesignPlace(std::uint64_t seed, const Encoding& encoding, std::uint64_t index) {
  Encoding::Place place(static_cast<Eigen::Index>(encoding.size()));
  for (std::size_t p = 0; p < encoding.size(); ++p) {
    double unit = 0.5;
    if (index > 0 && p < kPrimes.size()) {
      Random permutation(seed ^ kDesignStream, p);
      const double shift = permutation.Uniform();
      unit = std::fmod(Halton(index, kPrimes[p], permutation) + shift, 1.0);
    } else if (index > 0) {
      unit = Random(seed ^ kDesignStream, (p << 32) + index).Uniform();
    }
    const auto& choices = encoding.Choices(p);
    const auto choice = static_cast<std::size_t>(unit * static_cast<double>(choices.size()));
    place[static_cast<Eigen::Index>(p)] = choices.empty() ? unit : choices[choice];
  }
  return place;
}

}  // namespace trainyard::tuning
