#include "cli/gcloud/paint.h"

#include <array>
#include <utility>

namespace trainyard::cli {
namespace {

constexpr std::array<std::pair<std::string_view, Colour>, 16> kStates{{
    {"SUCCEEDED", Colour::kGreen},
    {"COMPLETED", Colour::kGreen},
    {"FAILED", Colour::kRed},
    {"INFEASIBLE", Colour::kRed},
    {"CANCELLED", Colour::kYellow},
    {"CANCELLING", Colour::kYellow},
    {"STOPPED", Colour::kYellow},
    {"QUEUED", Colour::kYellow},
    {"PREPARING", Colour::kBlue},
    {"RUNNING", Colour::kBlue},
    {"ACTIVE", Colour::kBlue},
    {"WARNING", Colour::kYellow},
    {"ERROR", Colour::kRed},
    {"CRITICAL", Colour::kRed},
    {"ALERT", Colour::kRed},
    {"EMERGENCY", Colour::kRed},
}};

std::string_view CodeOf(Colour colour) {
  switch (colour) {
    case Colour::kNone: return "";
    case Colour::kBold: return "1";
    case Colour::kRed: return "31";
    case Colour::kGreen: return "32";
    case Colour::kYellow: return "33";
    case Colour::kBlue: return "34";
  }
  return "";
}

}  // namespace

std::string Painted(std::string_view text, Colour colour) {
  if (colour == Colour::kNone || text.empty()) return std::string(text);
  return "\x1b[" + std::string(CodeOf(colour)) + "m" + std::string(text) + "\x1b[0m";
}

Colour ColourOfCell(std::string_view cell) {
  if (cell.ends_with("(best)")) return Colour::kGreen;
  const std::string_view word = cell.substr(0, cell.find(' '));
  for (const auto& [state, colour] : kStates)
    if (word == state) return colour;
  return Colour::kNone;
}

}  // namespace trainyard::cli
