#include "tuning/problems/problem.h"

#include <array>
#include <cmath>
#include <utility>

#include "rules/tuning/random.h"
#include "tuning/problems/bbob.h"
#include "tuning/problems/table.h"

namespace trainyard::bench {
namespace {

using tuning::Parameter;
using tuning::Point;
using tuning::Scale;
using tuning::Space;
using Type = Parameter::Type;

constexpr int kFirstMixed = 101;
constexpr int kLastMixed = 105;
constexpr int kFirstTable = 201;

class BbobProblem final : public Problem {
 public:
  BbobProblem(int function, int dimension, std::uint64_t instance) : bbob_(function, dimension, instance) {
    for (int i = 0; i < dimension; ++i) {
      space_.parameters.push_back({.name = "x" + std::to_string(i), .min = -kBbobBound, .max = kBbobBound});
    }
  }
  const Space& space() const override { return space_; }
  double Regret(const Point& point) const override {
    return bbob_.Regret(
        Eigen::Map<const Eigen::VectorXd>(point.data(), static_cast<Eigen::Index>(point.size())));
  }

 private:
  Bbob bbob_;
  Space space_;
};

Parameter Double(std::string name, double min, double max, Scale scale = Scale::kLinear) {
  return {.name = std::move(name), .scale = scale, .min = min, .max = max};
}
Parameter Integer(std::string name, double min, double max, Scale scale = Scale::kLinear) {
  return {.name = std::move(name), .type = Type::kInteger, .scale = scale, .min = min, .max = max};
}
Parameter Discrete(std::string name, std::vector<double> values) {
  return {.name = std::move(name), .type = Type::kDiscrete, .discrete = std::move(values)};
}
Parameter Category(std::string name, int count) {
  Parameter parameter{.name = std::move(name), .type = Type::kCategorical};
  for (int i = 0; i < count; ++i) parameter.categories.push_back("c" + std::to_string(i));
  return parameter;
}

// The shapes that training jobs have: learning rates, layers, batch sizes, optimizers.
Space MixedSpace(int function) {
  switch (function) {
    case 101:
      return {{Double("rate", 1e-5, 1, Scale::kLog), Double("decay", 1e-6, 1e-1, Scale::kLog),
               Integer("layers", 1, 8), Category("optimizer", 4)}};
    case 102:
      return {{Double("rate", 1e-4, 1, Scale::kLog), Discrete("batch", {16, 32, 64, 128, 256, 512}),
               Double("dropout", 0, 0.9), Integer("units", 8, 1024, Scale::kLog), Category("activation", 5)}};
    case 103: return {{Category("a", 20), Category("b", 5), Double("x", 0, 1), Double("y", 0, 1)}};
    case 104:
      return {{Integer("depth", 1, 15), Integer("leaves", 2, 200, Scale::kLog),
               Double("momentum", 0.5, 0.999, Scale::kReverseLog), Double("rate", 1e-3, 1, Scale::kLog),
               Discrete("bins", {15, 31, 63, 127, 255}), Category("booster", 3), Double("sample", 0.1, 1),
               Double("columns", 0.1, 1)}};
    default:
      return {{Integer("a", 0, 10), Integer("b", 0, 10), Discrete("c", {1, 2, 4, 8}), Category("d", 8),
               Category("e", 3), Integer("f", 1, 100, Scale::kLog)}};
  }
}

// A bowl with a slant in every pair of neighbours and small ripples; each category has its own bottom.
class MixedProblem final : public Problem {
 public:
  MixedProblem(int function, std::uint64_t instance) : space_(MixedSpace(function)) {
    tuning::Random random(instance, static_cast<std::uint64_t>(function));
    for (const Parameter& parameter : space_.parameters) {
      optimum_.push_back(0.1 + 0.8 * random.Uniform());
      weight_.push_back(std::pow(10.0, 1.5 * random.Uniform() - 0.5));
      shifts_.emplace_back();
      offsets_.emplace_back();
      const std::size_t count = parameter.categories.size();
      const auto best =
          static_cast<std::size_t>(random.Below(static_cast<double>(std::max<std::size_t>(1, count))));
      for (std::size_t i = 0; i < count; ++i) {
        shifts_.back().push_back(i == best ? 0 : 0.3 * (random.Uniform() - 0.5));
        offsets_.back().push_back(i == best ? 0 : 0.1 + random.Uniform());
      }
    }
    for (std::size_t i = 0; i < space_.parameters.size(); ++i) SnapOptimum(i);
  }
  const Space& space() const override { return space_; }

  double Regret(const Point& point) const override {
    double shift = 0;
    double sum = 0;
    for (std::size_t i = 0; i < point.size(); ++i) {
      if (shifts_[i].empty()) continue;
      const auto category = static_cast<std::size_t>(point[i]);
      shift += shifts_[i][category];
      sum += offsets_[i][category];
    }
    double before = 0;
    for (std::size_t i = 0; i < point.size(); ++i) {
      if (!shifts_[i].empty()) continue;
      const double gap = Unit(space_.parameters[i], point[i]) - optimum_[i] - shift;
      sum += weight_[i] * ((gap + 0.5 * before) * (gap + 0.5 * before) + 0.02 * (1 - std::cos(12 * gap)));
      before = gap;
    }
    return sum;
  }

 private:
  static double Unit(const Parameter& p, double value) {
    if (p.type == Type::kDiscrete) {
      std::size_t index = 0;
      while (index + 1 < p.discrete.size() && p.discrete[index] < value) ++index;
      return static_cast<double>(index) / static_cast<double>(p.discrete.size() - 1);
    }
    switch (p.scale) {
      case Scale::kLinear: return (value - p.min) / (p.max - p.min);
      case Scale::kLog: return std::log(value / p.min) / std::log(p.max / p.min);
      case Scale::kReverseLog: return 1 - std::log((p.max + p.min - value) / p.min) / std::log(p.max / p.min);
    }
    return 0;
  }

  // The optimum is a point of the space.
  void SnapOptimum(std::size_t i) {
    const Parameter& p = space_.parameters[i];
    if (p.type == Type::kDiscrete) {
      const auto last = static_cast<double>(p.discrete.size() - 1);
      optimum_[i] = std::round(optimum_[i] * last) / last;
    } else if (p.type == Type::kInteger) {
      const double value = p.scale == Scale::kLog ? p.min * std::pow(p.max / p.min, optimum_[i])
                                                  : p.min + optimum_[i] * (p.max - p.min);
      optimum_[i] = Unit(p, std::round(value));
    }
  }

  Space space_;
  std::vector<double> optimum_;
  std::vector<double> weight_;
  std::vector<std::vector<double>> shifts_;   // of the optimum of the others, by category
  std::vector<std::vector<double>> offsets_;  // of the value
};

template <class T, class F>
std::string Joined(const std::vector<T>& values, F text_of) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ",") + text_of(value);
  return text;
}

std::string ScaleText(Scale scale) {
  switch (scale) {
    case Scale::kLinear: return "linear";
    case Scale::kLog: return "log";
    case Scale::kReverseLog: return "reverse_log";
  }
  return {};
}

}  // namespace

bool IsProblem(int function, int dimension) {
  if (function >= kFirstTable) return HasTable(function);
  if (function >= kFirstMixed) return function <= kLastMixed;
  return function >= 1 && function <= kBbobFunctions && dimension >= 2 && dimension <= 1000;
}

std::unique_ptr<Problem> MakeProblem(int function, int dimension, std::uint64_t instance) {
  if (function >= kFirstTable) return MakeTableProblem(function, instance);
  if (function >= kFirstMixed) return std::make_unique<MixedProblem>(function, instance);
  return std::make_unique<BbobProblem>(function, dimension, instance);
}

std::string SpaceText(const Space& space) {
  std::string text;
  for (const Parameter& p : space.parameters) {
    if (!text.empty()) text += ';';
    const auto bounds = [&] {
      return tuning::ValueText(p, p.min) + ' ' + tuning::ValueText(p, p.max) + ' ' + ScaleText(p.scale);
    };
    switch (p.type) {
      case Type::kDouble: text += "double " + bounds(); break;
      case Type::kInteger: text += "integer " + bounds(); break;
      case Type::kDiscrete:
        text += "discrete " + Joined(p.discrete, [&](double value) { return tuning::ValueText(p, value); });
        break;
      case Type::kCategorical:
        text += "category " + Joined(p.categories, [](const std::string& category) { return category; });
        break;
    }
  }
  return text;
}

}  // namespace trainyard::bench
