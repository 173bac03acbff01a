#include "engine/agent/attempt_found.h"

namespace trainyard::agent {

Result<v1::AttemptFound> ToFound(const std::string& attempt_id, const engine::Inspection& inspection) {
  v1::AttemptFound found;
  found.set_attempt_id(attempt_id);
  switch (inspection.state) {
    case engine::AttemptState::kPending:
    case engine::AttemptState::kAbsent: return found;
    case engine::AttemptState::kAlive:
      found.set_state(v1::AttemptFound::ALIVE);
      found.set_has_exit(inspection.has_exit);
      return found;
    case engine::AttemptState::kEnded: found.set_state(v1::AttemptFound::ENDED); return found;
    case engine::AttemptState::kLost: found.set_state(v1::AttemptFound::LOST); return found;
    case engine::AttemptState::kUnknown: break;
  }
  return std::unexpected(Unavailable(inspection.why));
}

}  // namespace trainyard::agent
