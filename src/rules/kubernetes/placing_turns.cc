#include "rules/kubernetes/placing_turns.h"

#include <algorithm>

namespace trainyard::kubernetes {

void PlacingTurns::Wait(const GangKey& key, const Place& place) {
  Line& line = lines_[place.line];
  (place.is_single ? line.singles : line.waiting).insert(OrderOf(key, place));
}

void PlacingTurns::Leave(const GangKey& key, const Place& place) {
  const auto found = lines_.find(place.line);
  if (found == lines_.end()) return;
  Line& line = found->second;
  (place.is_single ? line.singles : line.waiting).erase(OrderOf(key, place));
  line.unplaced.erase(key);
  if (line.turn == key) line.turn.reset();
  if (line.waiting.empty() && line.singles.empty() && line.unplaced.empty() && !line.turn)
    lines_.erase(found);
}

void PlacingTurns::Take(const GangKey& key, const Place& place) {
  Leave(key, place);
  Line& line = lines_[place.line];
  if (place.is_single)
    line.unplaced.insert(key);
  else if (!line.turn)
    line.turn = key;
}

std::vector<GangKey> PlacingTurns::Next(int count) const {
  std::vector<GangKey> next;
  for (const auto& [name, line] : lines_)
    if (!line.turn && !line.waiting.empty()) next.push_back(line.waiting.begin()->key);
  for (const auto& [name, line] : lines_) {
    auto room = std::min<std::ptrdiff_t>(count, kUnplacedMax - std::ssize(line.unplaced));
    for (auto single = line.singles.begin(); single != line.singles.end() && room > 0; ++single, --room) {
      next.push_back(single->key);
      --count;
    }
  }
  return next;
}

bool PlacingTurns::IsCrowded(const std::string& line) const {
  const auto found = lines_.find(line);
  return found != lines_.end() && !found->second.singles.empty() &&
         std::ssize(found->second.unplaced) >= kUnplacedMax;
}

}  // namespace trainyard::kubernetes
