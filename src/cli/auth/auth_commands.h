#pragma once

#include <span>

#include "cli/command_session.h"

/// `trainyard auth ...`: who the user is to a server, and tokens for others.
namespace trainyard::cli {

struct Command;

/// The table of `auth ...`.
[[nodiscard]] std::span<const Command> AuthCommands();

[[nodiscard]] ExitStatus CreateToken(const CommandSession& session);
[[nodiscard]] ExitStatus ListTokens(const CommandSession& session);
[[nodiscard]] ExitStatus RevokeToken(const CommandSession& session);

/// Asks the server who the token is, then keeps it.
[[nodiscard]] ExitStatus LogIn(const LocalSession& session);
[[nodiscard]] ExitStatus LogOut(const LocalSession& session);
/// As logout, and the token is no token any more.
[[nodiscard]] ExitStatus RevokeLogin(const LocalSession& session);
[[nodiscard]] ExitStatus ListLogins(const LocalSession& session);
[[nodiscard]] ExitStatus PrintAccessToken(const LocalSession& session);

}  // namespace trainyard::cli
