#include "rules/kubernetes/placing_turns.h"

#include <algorithm>

namespace trainyard::kubernetes {

void PlacingTurns::Wait(const GangKey& key, const Place& place) {
  Line& line = lines_[place.line];
  (place.needs_turn ? line.waiting : line.others).insert(OrderOf(key, place));
}

void PlacingTurns::Leave(const GangKey& key, const Place& place) {
  const auto found = lines_.find(place.line);
  if (found == lines_.end()) return;
  Line& line = found->second;
  (place.needs_turn ? line.waiting : line.others).erase(OrderOf(key, place));
  line.unplaced.erase(key);
  if (line.turn == key) line.turn.reset();
  if (line.waiting.empty() && line.others.empty() && line.unplaced.empty() && !line.turn) lines_.erase(found);
}

void PlacingTurns::Take(const GangKey& key, const Place& place) {
  Leave(key, place);
  Line& line = lines_[place.line];
  if (!place.needs_turn)
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
    for (auto other = line.others.begin(); other != line.others.end() && room > 0; ++other, --room) {
      next.push_back(other->key);
      --count;
    }
  }
  return next;
}

bool PlacingTurns::IsCrowded(const std::string& line) const {
  const auto found = lines_.find(line);
  return found != lines_.end() && !found->second.others.empty() &&
         std::ssize(found->second.unplaced) >= kUnplacedMax;
}

}  // namespace trainyard::kubernetes
