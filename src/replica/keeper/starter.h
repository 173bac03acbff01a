#pragma once

#include "replica/keeper/supervisor_list.h"

namespace trainyard::keeper {

/// The number of the starter's socket: one end of a SOCK_SEQPACKET pair whose other end the server has.
inline constexpr int kStarterSocket = 3;

/// `trainyard starter`: forks supervisors for a server started by hand, or an agent, which holds the other
/// end of kStarterSocket. A server has many threads and much memory, so it cannot fork them itself, and exec
/// takes longer than a fork. Speaks the keeper's protocol (keeper_message.h) without the greeting;
/// supervisors get its variables. It ends when the other end is closed; what it started lives on.
/// docs/adr/0092-supervisors-are-forked.md.
///
/// Exit code: 0; 2: kStarterSocket is no socket.
int RunStarter(SupervisorMain main);

}  // namespace trainyard::keeper
