#pragma once

#include <Eigen/Core>
#include <vector>

namespace trainyard::tuning {

/// Describes the columns of a matrix of features.
struct Features {
  std::vector<Eigen::Index> group;  ///< by column: its length scale
  std::vector<char> numeric;        ///< by column: whether it is part of the quadratic trend
  Eigen::Index groups = 0;
};

enum class Kernel { kMatern52, kGaussian };

/// The prior covariance of the results at two points, relative to the variance of the residual:
///   k(r) + linear t.t' + quadratic (t.t')^2,  t = 2 x - 1 over the numeric columns,
/// r scaled by a length for each group; plus `noise` on the diagonal.
struct Hyperparameters {
  Eigen::VectorXd log_length;  ///< by group
  double log_noise = -9;
  double log_linear = -4;
  double log_quadratic = -4;
};

struct GaussianProcessOptions {
  Kernel kernel = Kernel::kMatern52;
  bool trend = true;  ///< linear and quadratic; without it both are 0
  double log_noise_min = -18;
  double log_noise_max = 0;
  double log_length_mean = -0.7;  ///< mean of the prior over the logarithm of length scales
  double log_length_deviation = 1;
  int evaluations_max = 40;  ///< of the posterior density during a fit
};

struct Prediction {
  double mean = 0;
  double variance = 0;  ///< of the function, without noise
};

/// A Gaussian process with an unknown constant mean and an unknown variance, both estimated in closed form.
/// At least 1 row. One thread at a time. Source: Rasmussen and Williams, Gaussian Processes for Machine
/// Learning, chapters 2 and 5.
class GaussianProcess {
 public:
  /// Rows of x are points; the values of y should have a standard deviation of about 1.
  GaussianProcess(Features features, Eigen::MatrixXd x, Eigen::VectorXd y, GaussianProcessOptions options);

  /// Finds the hyperparameters of highest posterior density near `start` and uses them.
  void Fit(const Hyperparameters& start);
  /// Uses these hyperparameters. False if the matrix cannot be factored even with more noise (the values are
  /// not finite).
  bool Use(const Hyperparameters& hyperparameters);
  /// The starting point of a fit without other knowledge.
  [[nodiscard]] Hyperparameters Default() const;

  /// Minus the log posterior density, up to a constant that depends on the number of points only; its
  /// gradient in the order log_length, log_noise, log_linear, log_quadratic. Infinity if the matrix cannot be
  /// factored.
  double Loss(const Hyperparameters& hyperparameters, Eigen::VectorXd* gradient) const;

  [[nodiscard]] const Hyperparameters& hyperparameters() const noexcept { return used_; }
  [[nodiscard]] const GaussianProcessOptions& options() const noexcept { return options_; }
  [[nodiscard]] double loss() const noexcept { return loss_; }  ///< of the last fit
  [[nodiscard]] Eigen::Index size() const noexcept { return x_.rows(); }
  [[nodiscard]] double noise_variance() const noexcept;

  /// The smallest predicted mean at its own points.
  [[nodiscard]] double LeastMean() const;
  [[nodiscard]] Prediction At(const Eigen::VectorXd& x) const;
  /// Also computes the gradients, by column of x.
  Prediction At(const Eigen::VectorXd& x, Eigen::VectorXd& mean_gradient,
                Eigen::VectorXd& variance_gradient) const;
  /// Predicts many rows at once.
  void At(const Eigen::MatrixXd& x, Eigen::VectorXd& mean, Eigen::VectorXd& variance) const;

  /// Only the means: much less work.
  [[nodiscard]] Eigen::VectorXd MeansAt(const Eigen::MatrixXd& x) const;

  /// Adds one point without a new fit: O(n^2).
  void Append(const Eigen::VectorXd& x, double y);

 private:
  [[nodiscard]] Eigen::MatrixXd Scaled(const Eigen::MatrixXd& x, const Eigen::VectorXd& log_length) const;
  [[nodiscard]] Eigen::MatrixXd Trend(const Eigen::MatrixXd& x) const;
  [[nodiscard]] Eigen::MatrixXd Cross(const Eigen::MatrixXd& scaled, const Eigen::MatrixXd& trend) const;
  void Solve();

  Features features_;
  Eigen::MatrixXd x_;
  Eigen::VectorXd y_;
  GaussianProcessOptions options_;
  Hyperparameters used_;
  double loss_ = 0;
  double noise_ = 0;  // as used in the factor, with the added part
  double linear_ = 0;
  double quadratic_ = 0;
  Eigen::MatrixXd scaled_;   // n x features, by length
  Eigen::MatrixXd trend_;    // n x numeric features
  Eigen::MatrixXd lower_;    // Cholesky factor
  Eigen::VectorXd weights_;  // K^-1 (y - mean)
  Eigen::VectorXd ones_;     // K^-1 1
  double mean_ = 0;
  double variance_ = 1;
};

}  // namespace trainyard::tuning
