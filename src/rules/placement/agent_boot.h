#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The part of a boot script, for bash, that is the same on every cluster: how a node's shell gets the
/// agent's program and becomes the agent. Pure: any thread. docs/adr/0056-agents.md.
namespace trainyard::placement {

/// How a node's shell reaches the server, and which program it runs.
struct AgentSource {
  std::string server_host;  ///< numeric: nodes may have no names
  int server_port = 0;
  std::string certificate_sha256;  ///< of the server's certificate, in hexadecimal
  std::string program_sha256;      ///< in hexadecimal
};

// Exit statuses of FindAgentScript, as in sysexits.h.
inline constexpr int kExitNoDownload = 69;   ///< the server was not reached, or sent other bytes
inline constexpr int kExitNoDirectory = 72;  ///< $dir cannot be made, or belongs to another account
inline constexpr int kExitNoProgram = 73;    ///< the program cannot be stored

/// Sets $program to the agent's program below $dir. If it is not there, it is copied from the file $mine, or
/// else downloaded from the server, and its digest is checked. Variables: $dir, $node, $slot, and $mine,
/// which may be empty or name a file that does not exist.
[[nodiscard]] std::string FindAgentScript(const AgentSource& source);
/// Replaces the shell with the agent. Variables: $program, $slot, $node, $gpus, $dir.
/// @param more  further arguments of the agent, words without spaces
[[nodiscard]] std::string ExecAgentScript(const AgentSource& source,
                                          const std::vector<std::string>& more = {});

/// The text as one word of a shell, between single quotes.
[[nodiscard]] std::string ShellQuoted(std::string_view text);

}  // namespace trainyard::placement
