#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>

/// The 24 noise-free functions of the BBOB suite, each instance with its own optimum, uniform in [-4, 4]^d,
/// and its own rotations. Source: Hansen, Finck, Ros, Auger: Real-Parameter Black-Box Optimization
/// Benchmarking 2009: Noiseless Functions Definitions, RR-6829.
namespace trainyard::bench {

inline constexpr int kBbobFunctions = 24;
inline constexpr double kBbobBound = 5;  ///< the domain is [-kBbobBound, kBbobBound]^d

class Bbob {
 public:
  /// @param function 1..24 @param dimension at least 2 @param instance from 1: the seed
  Bbob(int function, int dimension, std::uint64_t instance);
  ~Bbob();

  /// The value above the least one: 0 at the optimum. x has `dimension` numbers.
  [[nodiscard]] double Regret(const Eigen::VectorXd& x) const;

 private:
  struct Instance;
  std::unique_ptr<Instance> instance_;
};

}  // namespace trainyard::bench
