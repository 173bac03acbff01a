#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "rules/slurm/claims.h"
#include "rules/slurm/gangs.h"

namespace trainyard::slurm {

/// No call of Slurm takes longer in the model.
inline constexpr std::chrono::seconds kCallMax{20};

/// Prints values, so that two situations have equal keys only if everything that follows is the same for
/// both. Of times only their ages count, and of ages only the whole seconds and the order of the rest,
/// because all limits of the rules are whole seconds. Ages above a maximum are equal. A value; one thread.
class KeyWriter {
 public:
  explicit KeyWriter(SysTime now) : now_(now) {
    key_.reserve(256);
    rests_.reserve(16);
  }

  void Add(std::int64_t number);
  /// The times that follow are of this gang, from 1 on; 0: of no gang. Times of two gangs are not compared.
  void SetGang(int gang) { gang_ = gang; }
  /// `age_max`: no rule distinguishes larger ages.
  void AddTime(SysTime time, std::chrono::seconds age_max);
  void AddTime(const std::optional<SysTime>& time, std::chrono::seconds age_max);
  [[nodiscard]] std::string Finish();
  [[nodiscard]] SysTime now() const { return now_; }

 private:
  SysTime now_;
  std::string key_;
  int gang_ = 0;
  struct Rest {
    int gang = 0;
    std::int64_t value = 0;
  };
  std::vector<Rest> rests_;  ///< the part of each age below a second, in the order of the times
};

/// Adds the whole state of the rules, except for words that people read. `asked`: when the oldest list was
/// requested that has not arrived; now, if there is none.
void AddState(KeyWriter& key, const Gangs& gangs, SysTime asked);
void AddState(KeyWriter& key, const Claims& claims);

}  // namespace trainyard::slurm
