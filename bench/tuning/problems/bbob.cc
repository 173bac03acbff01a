#include "tuning/problems/bbob.h"

#include <Eigen/QR>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "rules/tuning/random.h"

namespace trainyard::bench {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using std::numbers::pi;

double Oscillated(double x) {
  if (x == 0) return 0;
  const double h = std::log(std::abs(x));
  const double c1 = x > 0 ? 10.0 : 5.5;
  const double c2 = x > 0 ? 7.9 : 3.1;
  return std::copysign(std::exp(h + 0.049 * (std::sin(c1 * h) + std::sin(c2 * h))), x);
}

VectorXd Oscillated(const VectorXd& x) {
  return x.unaryExpr([](double v) { return Oscillated(v); });
}

double Share(Index i, Index d) {
  return static_cast<double>(i) / static_cast<double>(std::max<Index>(1, d - 1));
}

VectorXd Asymmetric(const VectorXd& x, double beta) {
  VectorXd y = x;
  for (Index i = 0; i < x.size(); ++i) {
    if (x[i] > 0) y[i] = std::pow(x[i], 1 + beta * Share(i, x.size()) * std::sqrt(x[i]));
  }
  return y;
}

// Diagonal of Lambda^alpha.
VectorXd Lambda(double alpha, Index d) {
  VectorXd lambda(d);
  for (Index i = 0; i < d; ++i) lambda[i] = std::pow(alpha, 0.5 * Share(i, d));
  return lambda;
}

double Outside(const VectorXd& x) { return (x.cwiseAbs().array() - kBbobBound).max(0.0).square().sum(); }

MatrixXd Rotation(tuning::Random& random, Index d) {
  MatrixXd gauss(d, d);
  for (Index i = 0; i < d * d; ++i) gauss.data()[i] = random.Normal();
  const Eigen::HouseholderQR<MatrixXd> qr(gauss);
  MatrixXd q = qr.householderQ();
  for (Index i = 0; i < d; ++i) {
    if (qr.matrixQR()(i, i) < 0) q.col(i) *= -1;
  }
  return q;
}

double RastriginSum(const VectorXd& z) {
  return 10.0 * (static_cast<double>(z.size()) - (2 * pi * z.array()).cos().sum()) + z.squaredNorm();
}

double RosenbrockSum(const VectorXd& z) {
  double sum = 0;
  for (Index i = 0; i + 1 < z.size(); ++i) {
    sum += 100 * std::pow(z[i] * z[i] - z[i + 1], 2) + std::pow(z[i] - 1, 2);
  }
  return sum;
}

}  // namespace

struct Bbob::Instance {
  struct Peak {
    VectorXd at;
    VectorXd curvature;
    double height;
  };

  int function;
  Index d;
  VectorXd optimum;
  VectorXd signs;  // of the functions whose optimum has signs
  MatrixXd r;
  MatrixXd q;
  std::vector<Peak> peaks;

  double Separable(const VectorXd& x) const;
  double Conditioned(const VectorXd& x) const;
  double Multimodal(const VectorXd& x) const;
  double Weak(const VectorXd& x) const;
  double Gallagher(const VectorXd& x) const;
  double Lunacek(const VectorXd& x) const;
  void MakePeaks(tuning::Random& random);
};

double Bbob::Instance::Separable(const VectorXd& x) const {
  const VectorXd gap = x - optimum;
  switch (function) {
    case 1: return gap.squaredNorm();
    case 2: {
      const VectorXd z = Oscillated(gap);
      return Lambda(1e12, d).dot(z.cwiseAbs2());
    }
    case 3: return RastriginSum(Lambda(10, d).cwiseProduct(Asymmetric(Oscillated(gap), 0.2)));
    case 4: {
      VectorXd z = Oscillated(gap);
      for (Index i = 0; i < d; ++i)
        z[i] *= (z[i] > 0 && i % 2 == 0 ? 10 : 1) * std::pow(10, 0.5 * Share(i, d));
      return RastriginSum(z) + 100 * Outside(x);
    }
    default: {  // 5: the optimum is where a linear slope ends; here at its own place on the boundary
      double sum = 0;
      for (Index i = 0; i < d; ++i) {
        const double s = signs[i] * std::pow(10, Share(i, d));
        const double end = signs[i] * kBbobBound;
        const double z = x[i] * end < kBbobBound * kBbobBound ? x[i] : end;
        sum += kBbobBound * std::abs(s) - s * z;
      }
      return sum;
    }
  }
}

double Bbob::Instance::Conditioned(const VectorXd& x) const {
  const VectorXd gap = x - optimum;
  switch (function) {
    case 6: {
      VectorXd z = q * Lambda(10, d).cwiseProduct(r * gap);
      for (Index i = 0; i < d; ++i) z[i] *= z[i] * optimum[i] > 0 ? 100 : 1;
      return std::pow(Oscillated(z.squaredNorm()), 0.9);
    }
    case 7: {
      const VectorXd hat = Lambda(10, d).cwiseProduct(r * gap);
      VectorXd tilde = hat;
      for (Index i = 0; i < d; ++i) {
        tilde[i] = std::abs(hat[i]) > 0.5 ? std::floor(0.5 + hat[i]) : std::floor(0.5 + 10 * hat[i]) / 10;
      }
      const VectorXd z = q * tilde;
      return 0.1 * std::max(std::abs(hat[0]) / 1e4, Lambda(1e4, d).dot(z.cwiseAbs2())) + Outside(x);
    }
    case 8: {
      const VectorXd z = (std::max(1.0, std::sqrt(static_cast<double>(d)) / 8) * gap).array() + 1;
      return RosenbrockSum(z);
    }
    case 9: {
      const VectorXd z = (std::max(1.0, std::sqrt(static_cast<double>(d)) / 8) * (r * gap)).array() + 1;
      return RosenbrockSum(z);
    }
    case 10: return Lambda(1e12, d).dot(Oscillated(r * gap).cwiseAbs2());
    case 11: {
      const VectorXd z = Oscillated(r * gap);
      return 1e6 * z[0] * z[0] + z.tail(d - 1).squaredNorm();
    }
    case 12: {
      const VectorXd z = r * Asymmetric(r * gap, 0.5);
      return z[0] * z[0] + 1e6 * z.tail(d - 1).squaredNorm();
    }
    case 13: {
      const VectorXd z = q * Lambda(10, d).cwiseProduct(r * gap);
      return z[0] * z[0] + 100 * z.tail(d - 1).norm();
    }
    default: {  // 14
      const VectorXd z = r * gap;
      double sum = 0;
      for (Index i = 0; i < d; ++i) sum += std::pow(std::abs(z[i]), 2 + 4 * Share(i, d));
      return std::sqrt(sum);
    }
  }
}

double Bbob::Instance::Multimodal(const VectorXd& x) const {
  const VectorXd gap = x - optimum;
  const auto dimension = static_cast<double>(d);
  switch (function) {
    case 15: return RastriginSum(r * Lambda(10, d).cwiseProduct(q * Asymmetric(Oscillated(r * gap), 0.2)));
    case 16: {
      const VectorXd z = r * Lambda(0.01, d).cwiseProduct(q * Oscillated(r * gap));
      double least = 0;
      double sum = 0;
      for (int k = 0; k < 12; ++k) {
        const double a = std::pow(0.5, k);
        const double b = std::pow(3.0, k);
        least += a * std::cos(pi * b);
        for (Index i = 0; i < d; ++i) sum += a * std::cos(2 * pi * b * (z[i] + 0.5));
      }
      return 10 * std::pow(std::abs(sum / dimension - least), 3) + 10 / dimension * Outside(x);
    }
    case 17:
    case 18: {
      const VectorXd z = Lambda(function == 17 ? 10 : 1000, d).cwiseProduct(q * Asymmetric(r * gap, 0.5));
      double sum = 0;
      for (Index i = 0; i + 1 < d; ++i) {
        const double s = std::hypot(z[i], z[i + 1]);
        sum += std::sqrt(s) * (1 + std::pow(std::sin(50 * std::pow(s, 0.2)), 2));
      }
      return std::pow(sum / std::max(1.0, dimension - 1), 2) + 10 * Outside(x);
    }
    default: {  // 19
      const VectorXd z = (std::max(1.0, std::sqrt(dimension) / 8) * (r * gap)).array() + 1;
      double sum = 0;
      for (Index i = 0; i + 1 < d; ++i) {
        const double s = 100 * std::pow(z[i] * z[i] - z[i + 1], 2) + std::pow(z[i] - 1, 2);
        sum += s / 4000 - std::cos(s);
      }
      return 10 * sum / (dimension - 1) + 10;
    }
  }
}

double Bbob::Instance::Weak(const VectorXd& x) const {
  const auto dimension = static_cast<double>(d);
  switch (function) {
    case 20: {
      // The place of the least value is +-4.2096874633/2 in the definition; `optimum` moves the domain there.
      const double best = 4.2096874633;
      const VectorXd centred = 2 * (x - optimum).cwiseProduct(signs).array() + best;
      VectorXd hat = centred;
      for (Index i = 0; i + 1 < d; ++i) hat[i + 1] = centred[i + 1] + 0.25 * (centred[i] - best);
      const VectorXd z = 100 * (Lambda(10, d).array() * (hat.array() - best) + best);
      double sum = 0;
      for (Index i = 0; i < d; ++i) sum += z[i] * std::sin(std::sqrt(std::abs(z[i])));
      return std::max(0.0, 4.189828872724339 - sum / (100 * dimension)) + 100 * Outside(z / 100);
    }
    case 21:
    case 22: return Gallagher(x);
    case 23: {
      const VectorXd z = q * Lambda(100, d).cwiseProduct(r * (x - optimum));
      double product = 1;
      for (Index i = 0; i < d; ++i) {
        double sum = 0;
        for (int j = 1; j <= 32; ++j) {
          const double power = std::pow(2.0, j);
          sum += std::abs(power * z[i] - std::round(power * z[i])) / power;
        }
        product *= std::pow(1 + static_cast<double>(i + 1) * sum, 10 / std::pow(dimension, 1.2));
      }
      return 10 / (dimension * dimension) * (product - 1) + Outside(x);
    }
    default: return Lunacek(x);
  }
}

double Bbob::Instance::Gallagher(const VectorXd& x) const {
  double best = 0;
  for (const Peak& peak : peaks) {
    const VectorXd gap = r * (x - peak.at);
    const double bowl = peak.curvature.dot(gap.cwiseAbs2()) / (2 * static_cast<double>(d));
    best = std::max(best, peak.height * std::exp(-bowl));
  }
  return std::pow(Oscillated(10 - best), 2) + Outside(x);
}

double Bbob::Instance::Lunacek(const VectorXd& x) const {
  const auto dimension = static_cast<double>(d);
  const double mu0 = 2.5;
  const double s = 1 - 1 / (2 * std::sqrt(dimension + 20) - 8.2);
  const double mu1 = -std::sqrt((mu0 * mu0 - 1) / s);
  // As in the definition, with the domain moved so that the optimum is `optimum`.
  const VectorXd hat = 2 * (x - optimum).cwiseProduct(signs).array() + mu0;
  const VectorXd z = q * Lambda(100, d).cwiseProduct(r * (hat.array() - mu0).matrix());
  const double first = (hat.array() - mu0).square().sum();
  const double second = dimension + s * (hat.array() - mu1).square().sum();
  return std::min(first, second) + 10 * (dimension - (2 * pi * z.array()).cos().sum()) + 1e4 * Outside(x);
}

void Bbob::Instance::MakePeaks(tuning::Random& random) {
  const int count = function == 21 ? 101 : 21;
  const double first = function == 21 ? 1000 : 1000 * 1000;
  for (int i = 0; i < count; ++i) {
    Peak peak{VectorXd(d), VectorXd(d), 10};
    double alpha = first;
    if (i > 0) {
      for (Index j = 0; j < d; ++j) peak.at[j] = -kBbobBound + 2 * kBbobBound * random.Uniform();
      peak.height = 1.1 + 8.0 * (i - 1) / (count - 2);
      alpha = std::pow(1000, 2 * random.Below(count - 1) / (count - 2));
    } else {
      peak.at = optimum;
    }
    peak.curvature = Lambda(alpha, d) / std::pow(alpha, 0.25);
    for (Index j = d - 1; j > 0; --j) {
      std::swap(peak.curvature[j],
                peak.curvature[static_cast<Index>(random.Below(static_cast<double>(j + 1)))]);
    }
    peaks.push_back(std::move(peak));
  }
}

Bbob::Bbob(int function, int dimension, std::uint64_t instance) : instance_(std::make_unique<Instance>()) {
  tuning::Random random(instance, static_cast<std::uint64_t>(function * 1000 + dimension));
  Instance& it = *instance_;
  it.function = function;
  it.d = dimension;
  it.optimum.resize(it.d);
  it.signs.resize(it.d);
  for (Index i = 0; i < it.d; ++i) {
    it.optimum[i] = -4 + 8 * random.Uniform();
    it.signs[i] = random.Uniform() < 0.5 ? -1 : 1;
  }
  it.r = Rotation(random, it.d);
  it.q = Rotation(random, it.d);
  if (function == 21 || function == 22) it.MakePeaks(random);
}

Bbob::~Bbob() = default;

double Bbob::Regret(const VectorXd& x) const {
  const Instance& it = *instance_;
  if (it.function <= 5) return it.Separable(x);
  if (it.function <= 14) return it.Conditioned(x);
  if (it.function <= 19) return it.Multimodal(x);
  return it.Weak(x);
}

}  // namespace trainyard::bench
