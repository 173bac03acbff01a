#include "rules/tuning/tuner.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "rules/tuning/bandit.h"
#include "rules/tuning/encoding.h"
#include "rules/tuning/evidence.h"
#include "rules/tuning/random.h"
#include "rules/tuning/values.h"

namespace trainyard::tuning {

namespace {

void StartFrom(const Space& space, Point& point, std::size_t parameter) {
  for (std::size_t i = parameter; i < space.parameters.size(); ++i) {
    point[i] = IsActive(space, point, i) ? ValueAt(space.parameters[i], 0) : kInactive;
  }
}

// The value after this one; nullopt after the last one.
std::optional<double> NextValue(const Parameter& parameter, double value) {
  const double count = ValueCount(parameter);
  if (!std::isfinite(count)) return std::nullopt;
  double index = value;
  if (parameter.type == Parameter::Type::kInteger) index = value - ValueAt(parameter, 0);
  if (parameter.type == Parameter::Type::kDouble) index = 0;
  if (parameter.type == Parameter::Type::kDiscrete) {
    index =
        static_cast<double>(std::ranges::lower_bound(parameter.discrete, value) - parameter.discrete.begin());
  }
  if (index + 1 >= count) return std::nullopt;
  return ValueAt(parameter, index + 1);
}

constexpr std::uint64_t kRandomStream = 0x72616e64;
constexpr int kDrawsMax = 100;          // attempts to draw a new point
constexpr int kGridStepsMax = 1 << 20;  // steps through a space to find one

struct PointHash {
  std::size_t operator()(const Point& point) const noexcept {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const double value : point) {
      const auto bits = std::bit_cast<std::uint64_t>(value != value ? kInactive : value + 0.0);
      hash = (hash ^ bits) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

struct PointEqual {
  bool operator()(const Point& a, const Point& b) const noexcept {
    return std::ranges::equal(a, b, [](double x, double y) { return x == y || (x != x && y != y); });
  }
};

using PointSet = std::unordered_set<Point, PointHash, PointEqual>;

}  // namespace

Point FirstPoint(const Space& space) {
  Point point(space.parameters.size(), kInactive);
  StartFrom(space, point, 0);
  return point;
}

std::optional<Point> NextPoint(const Space& space, const Point& point) {
  Point next = point;
  for (std::size_t i = next.size(); i-- > 0;) {
    if (std::isnan(next[i])) continue;
    if (const auto value = NextValue(space.parameters[i], next[i])) {
      next[i] = *value;
      StartFrom(space, next, i + 1);
      return next;
    }
  }
  return std::nullopt;
}

struct Tuner::State {
  explicit State(StudySpec its_spec)
      : spec(std::move(its_spec)), encoding(spec.space), bandit(spec, encoding) {}

  // The first point, starting here, that was not tried yet.
  std::optional<Point> NextUnseen(const PointSet& seen, int steps_max) const {
    std::optional<Point> point = FirstPoint(spec.space);
    for (int step = 0; point && step < steps_max; ++step) {
      if (!seen.contains(*point)) return point;
      point = NextPoint(spec.space, *point);
    }
    return std::nullopt;
  }

  Point RandomPoint(std::uint64_t index) const {
    Random random(spec.seed ^ kRandomStream, index);
    return encoding.PointOf(encoding.RandomPlace(random));
  }

  // The best proposed point that is new; otherwise any new point; if all were tried, the best proposed one.
  Point Choose(const Bandit::Proposal& proposal, const PointSet& seen, std::uint64_t index) const {
    Point best = encoding.PointOf(proposal.places.front().place);
    if (proposal.repeats_useful || !seen.contains(best)) return best;
    for (const Scored& scored : proposal.places) {
      Point point = encoding.PointOf(scored.place);
      if (!seen.contains(point)) return point;
    }
    Random random(spec.seed ^ kRandomStream, index);
    for (int draw = 0; draw < kDrawsMax; ++draw) {
      Point point = encoding.PointOf(encoding.RandomPlace(random));
      if (!seen.contains(point)) return point;
    }
    if (CountPoints(spec.space)) {
      if (auto point = NextUnseen(seen, kGridStepsMax)) return *point;
    }
    return best;
  }

  StudySpec spec;
  Encoding encoding;
  Bandit bandit;
};

Tuner::Tuner(StudySpec spec) : state_(std::make_unique<State>(std::move(spec))) {}
Tuner::~Tuner() = default;
Tuner::Tuner(Tuner&&) noexcept = default;
Tuner& Tuner::operator=(Tuner&&) noexcept = default;

const StudySpec& Tuner::spec() const noexcept { return state_->spec; }

std::vector<Point> Tuner::Suggest(std::span<const Trial> trials, int count, int made) {
  std::vector<Point> points;
  PointSet seen;
  if (state_->spec.algorithm !=
      Algorithm::kRandom) {  // it does not need the results, and may be asked for thousands of points
    seen.reserve(trials.size() + static_cast<std::size_t>(count));
    for (const Trial& trial : trials) {
      if (trial.point.size() == state_->spec.space.parameters.size()) seen.insert(trial.point);
    }
  }
  std::optional<Evidence> evidence;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t index =
        std::max(trials.size(), static_cast<std::size_t>(made)) + static_cast<std::size_t>(i);
    std::optional<Point> point;
    switch (state_->spec.algorithm) {
      case Algorithm::kGrid: point = state_->NextUnseen(seen, std::numeric_limits<int>::max()); break;
      case Algorithm::kRandom: point = state_->RandomPoint(index); break;
      case Algorithm::kDefault: {
        if (!evidence || state_->spec.metrics.size() > 1) {
          evidence = Gather(state_->spec, state_->encoding, trials, index);
          for (const Point& earlier : points) evidence->pending.push_back(state_->encoding.PlaceOf(earlier));
        }
        point = state_->Choose(state_->bandit.Propose(*evidence, index), seen, index);
        evidence->pending.push_back(state_->encoding.PlaceOf(*point));
        break;
      }
    }
    if (!point) break;
    seen.insert(*point);
    points.push_back(std::move(*point));
  }
  return points;
}

}  // namespace trainyard::tuning
