#include "rules/tuning/gaussian_process.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>

#include "rules/tuning/acquisition.h"
#include "rules/tuning/lbfgs.h"
#include "rules/tuning/random.h"

namespace trainyard::tuning {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Two numbers and a category of three.
const Features kFeatures{.group = {0, 1, 2, 2, 2}, .numeric = {1, 1, 0, 0, 0}, .groups = 3};

VectorXd RandomRow(Random& random) {
  VectorXd row = VectorXd::Zero(5);
  row[0] = random.Uniform();
  row[1] = random.Uniform();
  row[2 + static_cast<Index>(random.Below(3))] = std::sqrt(0.5);
  return row;
}

GaussianProcess Example(Kernel kernel, Index rows, std::uint64_t seed) {
  Random random(seed, 1);
  MatrixXd x(rows, 5);
  VectorXd y(rows);
  for (Index i = 0; i < rows; ++i) {
    x.row(i) = RandomRow(random).transpose();
    y[i] = std::sin(4 * x(i, 0)) + x(i, 1) * x(i, 1) + x(i, 3) + 0.1 * random.Normal();
  }
  return {kFeatures, x, y, {.kernel = kernel}};
}

Hyperparameters Some(double shift) {
  Hyperparameters h;
  h.log_length = VectorXd(3);
  h.log_length << -0.3 + shift, 0.2, 0.5 - shift;
  h.log_noise = -4 + shift;
  h.log_linear = -1 - shift;
  h.log_quadratic = -2 + shift;
  return h;
}

class OfKernel : public testing::TestWithParam<Kernel> {};

TEST_P(OfKernel, LossHasTheGradientOfFiniteDifferences) {
  const GaussianProcess model = Example(GetParam(), 12, 3);
  VectorXd gradient;
  model.Loss(Some(0.1), &gradient);
  const double step = 1e-5;
  for (Index i = 0; i < gradient.size(); ++i) {
    const auto at = [&](double offset) {
      Hyperparameters h = Some(0.1);
      double* const place = i < 3    ? &h.log_length[i]
                            : i == 3 ? &h.log_noise
                            : i == 4 ? &h.log_linear
                                     : &h.log_quadratic;
      *place += offset;
      return model.Loss(h, nullptr);
    };
    EXPECT_NEAR(gradient[i], (at(step) - at(-step)) / (2 * step), 1e-5 * (1 + std::abs(gradient[i]))) << i;
  }
}

TEST_P(OfKernel, PredictionHasTheGradientOfFiniteDifferences) {
  GaussianProcess model = Example(GetParam(), 15, 4);
  ASSERT_TRUE(model.Use(Some(0)));
  Random random(9, 9);
  VectorXd x = RandomRow(random);
  VectorXd mean_gradient;
  VectorXd variance_gradient;
  const Prediction here = model.At(x, mean_gradient, variance_gradient);
  EXPECT_NEAR(here.mean, model.At(x).mean, 1e-12);
  EXPECT_NEAR(here.variance, model.At(x).variance, 1e-12);
  const double step = 1e-6;
  for (Index c = 0; c < x.size(); ++c) {
    VectorXd up = x;
    VectorXd down = x;
    up[c] += step;
    down[c] -= step;
    EXPECT_NEAR(mean_gradient[c], (model.At(up).mean - model.At(down).mean) / (2 * step), 1e-5) << c;
    EXPECT_NEAR(variance_gradient[c], (model.At(up).variance - model.At(down).variance) / (2 * step), 1e-5)
        << c;
  }
}

TEST_P(OfKernel, AppendedPointsAreAsGoodAsThoseFromTheStart) {
  GaussianProcess all = Example(GetParam(), 20, 5);
  ASSERT_TRUE(all.Use(Some(0)));
  Random random(5, 1);
  MatrixXd x(20, 5);
  VectorXd y(20);
  for (Index i = 0; i < 20; ++i) {
    x.row(i) = RandomRow(random).transpose();
    y[i] = std::sin(4 * x(i, 0)) + x(i, 1) * x(i, 1) + x(i, 3) + 0.1 * random.Normal();
  }
  GaussianProcess grown(kFeatures, x.topRows(14), y.head(14), {.kernel = GetParam()});
  ASSERT_TRUE(grown.Use(Some(0)));
  for (Index i = 14; i < 20; ++i) grown.Append(x.row(i).transpose(), y[i]);
  const VectorXd probe = RandomRow(random);
  EXPECT_NEAR(grown.At(probe).mean, all.At(probe).mean, 1e-9);
  EXPECT_NEAR(grown.LeastMean(), all.LeastMean(), 1e-9);
  // The variance's scale stays that of the fit; its shape is that of all points.
  GaussianProcess before(kFeatures, x.topRows(14), y.head(14), {.kernel = GetParam()});
  ASSERT_TRUE(before.Use(Some(0)));
  EXPECT_NEAR(grown.At(probe).variance / before.noise_variance(),
              all.At(probe).variance / all.noise_variance(), 1e-7);
}

TEST_P(OfKernel, OrderOfPointsDoesNotMatter) {
  GaussianProcess model = Example(GetParam(), 10, 6);
  Random random(6, 1);
  MatrixXd x(10, 5);
  VectorXd y(10);
  for (Index i = 0; i < 10; ++i) {
    x.row(9 - i) = RandomRow(random).transpose();
    y[9 - i] = std::sin(4 * x(9 - i, 0)) + x(9 - i, 1) * x(9 - i, 1) + x(9 - i, 3) + 0.1 * random.Normal();
  }
  GaussianProcess reversed(kFeatures, x, y, {.kernel = GetParam()});
  ASSERT_TRUE(model.Use(Some(0)));
  ASSERT_TRUE(reversed.Use(Some(0)));
  const VectorXd probe = RandomRow(random);
  EXPECT_NEAR(model.At(probe).mean, reversed.At(probe).mean, 1e-10);
  EXPECT_NEAR(model.At(probe).variance, reversed.At(probe).variance, 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Kernels, OfKernel, testing::Values(Kernel::kMatern52, Kernel::kGaussian),
                         [](const auto& row) {
                           return row.param == Kernel::kMatern52 ? "Matern" : "Gaussian";
                         });

// Two points, kernel exp(-r^2/2), unit length, no noise: values that can be computed by hand. With k = k(0,
// 1) the estimated mean is (y1 + y2)/2 and, half way, the prediction is that mean; the variance is what
// remains.
TEST(GaussianProcess, AgreesWithATextbookCase) {
  MatrixXd x(2, 1);
  x << 0, 1;
  VectorXd y(2);
  y << -1, 1;
  GaussianProcess model({.group = {0}, .numeric = {1}, .groups = 1}, x, y,
                        {.kernel = Kernel::kGaussian, .trend = false, .log_noise_min = -40});
  Hyperparameters h;
  h.log_length = VectorXd::Zero(1);
  h.log_noise = -40;
  ASSERT_TRUE(model.Use(h));
  const double k = std::exp(-0.5);
  // y is (-1, 1), an eigenvector of [[1, k], [k, 1]] for 1 - k: y' K^-1 y = 2 / (1 - k), and sigma^2 half of
  // it.
  const double sigma2 = 1 / (1 - k);
  const double c = std::exp(-0.125);
  EXPECT_NEAR(model.At(VectorXd::Constant(1, 0.5)).mean, 0, 1e-12);
  const double missing = 1 - 2 * c / (1 + k);
  const double variance = sigma2 * (1 - 2 * c * c / (1 + k) + missing * missing * (1 + k) / 2);
  EXPECT_NEAR(model.At(VectorXd::Constant(1, 0.5)).variance, variance, 1e-9);
  EXPECT_NEAR(model.At(VectorXd::Constant(1, 0.0)).mean, -1, 1e-9);
  EXPECT_NEAR(model.At(VectorXd::Constant(1, 1.0)).mean, 1, 1e-9);
  // By hand at 0.25: weights are (-1, 1) / (1 - k).
  const double near = std::exp(-0.5 * 0.0625);
  const double far = std::exp(-0.5 * 0.5625);
  EXPECT_NEAR(model.At(VectorXd::Constant(1, 0.25)).mean, (far - near) / (1 - k), 1e-9);
}

TEST(GaussianProcess, FitLowersTheLoss) {
  GaussianProcess model = Example(Kernel::kMatern52, 25, 7);
  const double before = model.Loss(model.Default(), nullptr);
  model.Fit(model.Default());
  EXPECT_LT(model.loss(), before - 1);
  EXPECT_NEAR(model.loss(), model.Loss(model.hyperparameters(), nullptr), 1e-9);
}

TEST(GaussianProcess, StandsEqualPointsAndEqualValues) {
  const MatrixXd x = MatrixXd::Constant(6, 5, 0.5);
  GaussianProcess model(kFeatures, x, VectorXd::Zero(6), {});
  model.Fit(model.Default());
  const Prediction p = model.At(VectorXd::Constant(5, 0.2));
  EXPECT_TRUE(std::isfinite(p.mean));
  EXPECT_GT(p.variance, 0);
}

TEST(LogExpectedImprovement, IsSmoothAndRight) {
  // phi(0) = 0.39894..., at 1: phi + Phi = 1.08332, at -10: tables of the tail.
  EXPECT_NEAR(LogExpectedImprovement(0).value, std::log(0.3989422804014327), 1e-12);
  EXPECT_NEAR(LogExpectedImprovement(1).value, std::log(1.0833154705876864), 1e-12);
  for (double z = -60; z < 10; z += 0.37) {
    const double step = 1e-5;
    const double slope =
        (LogExpectedImprovement(z + step).value - LogExpectedImprovement(z - step).value) / (2 * step);
    EXPECT_NEAR(LogExpectedImprovement(z).slope, slope, 2e-3 * std::abs(slope)) << z;
  }
  EXPECT_NEAR(LogExpectedImprovement(-5.0001).value, LogExpectedImprovement(-4.9999).value, 5e-3);
}

TEST(Acquisition, HasTheGradientOfFiniteDifferences) {
  GaussianProcess model = Example(Kernel::kMatern52, 15, 8);
  ASSERT_TRUE(model.Use(Some(0)));
  Random random(2, 2);
  Acquisition acquisition{&model, Lens::Identity(5), {}, -1};
  acquisition.lens.scale[0] = 3;
  acquisition.lens.offset[0] = 0.1;
  acquisition.feasibility.points = MatrixXd(4, 5);
  for (Index i = 0; i < 4; ++i) acquisition.feasibility.points.row(i) = RandomRow(random).transpose();
  acquisition.feasibility.failed = VectorXd(4);
  acquisition.feasibility.failed << 1, 0, 1, 0;
  acquisition.feasibility.rate = VectorXd::Constant(5, 2);
  const VectorXd x = RandomRow(random);
  VectorXd gradient;
  const double value = acquisition.Of(x, gradient);
  EXPECT_NEAR(value, acquisition.Of(MatrixXd(x.transpose()))[0], 1e-10);
  for (Index c = 0; c < x.size(); ++c) {
    VectorXd unused;
    VectorXd up = x;
    VectorXd down = x;
    up[c] += 1e-6;
    down[c] -= 1e-6;
    const double slope = (acquisition.Of(up, unused) - acquisition.Of(down, unused)) / 2e-6;
    EXPECT_NEAR(gradient[c], slope, 1e-5 * (1 + std::abs(slope))) << c;
  }
}

TEST(Minimize, FindsTheValleyOfRosenbrockAndStaysInItsBox) {
  const CostFunction rosenbrock = [](const VectorXd& x, VectorXd& gradient) {
    const double a = x[1] - x[0] * x[0];
    gradient.resize(2);
    gradient << -400 * a * x[0] - 2 * (1 - x[0]), 200 * a;
    return 100 * a * a + (1 - x[0]) * (1 - x[0]);
  };
  const VectorXd start = VectorXd::Constant(2, -1.0);
  const Minimum free = Minimize(rosenbrock, start, VectorXd::Constant(2, -3), VectorXd::Constant(2, 3),
                                {.evaluations_max = 200, .gain_min = 1e-16});
  EXPECT_LT(free.value, 1e-8);
  const Minimum held = Minimize(rosenbrock, start, VectorXd::Constant(2, -3), VectorXd::Constant(2, 0.5),
                                {.evaluations_max = 200, .gain_min = 1e-16});
  EXPECT_NEAR(held.x[0], 0.5, 1e-4);
  EXPECT_NEAR(held.x[1], 0.25, 1e-3);
}

}  // namespace
}  // namespace trainyard::tuning
