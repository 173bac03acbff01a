#pragma once

#include <string>
#include <utility>

#include "base/async/diagnostics.h"

namespace trainyard::control {

/// Why something that is retried again and again fails: logged once for as long as the reason stays the same.
/// Loop thread only.
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
