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
[[nodiscard]] ExitStatus LogIn(const Arguments& arguments, const SettingSources& sources,
                               const Console& console);
[[nodiscard]] ExitStatus LogOut(const Arguments& arguments, const SettingSources& sources,
                                const Console& console);
/// As logout, and the token is no token any more.
[[nodiscard]] ExitStatus RevokeLogin(const Arguments& arguments, const SettingSources& sources,
                                     const Console& console);
[[nodiscard]] ExitStatus ListLogins(const Arguments& arguments, const SettingSources& sources,
                                    const Console& console);
[[nodiscard]] ExitStatus PrintAccessToken(const Arguments& arguments, const SettingSources& sources,
                                          const Console& console);

}  // namespace trainyard::cli
