#pragma once

#include <string>
#include <utility>

#include "base/async/diagnostics.h"

namespace trainyard::control {

/// What keeps something from being done that is tried again and again: the operator reads it once for as long
/// as it is the same. Loop thread only.
class Trouble {
 public:
  void Say(DiagnosticLevel level, std::string text) {
    const bool is_new = text != said_;
    Diagnose(is_new ? level : DiagnosticLevel::kDebug, text);
    said_ = std::move(text);
  }

 private:
  std::string said_;
};

}  // namespace trainyard::control
