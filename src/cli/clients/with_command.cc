#include "cli/clients/client_commands.h"

#include <string>
#include <utility>

#include "cli/clients/client_credentials.h"
#include "cli/clients/client_login.h"
#include "cli/clients/google_view.h"
#include "cli/clients/running_server.h"
#include "programs/sandbox/namespaces/led_command.h"
#include "programs/sandbox/namespaces/own_view.h"

namespace trainyard::cli {
namespace {

/// The front that a command uses. It is in the command's own variables: a `with` below it has
/// nothing to do.
constexpr const char* kWithin = "TRAINYARD_WITH";

Status CheckFront(const FoundServer& found) {
  if (!found.note) {
    return std::unexpected(FailedPrecondition(
        "The server at " + found.url + " (from: " + found.where + ") is not that of the data directory " +
        found.data_dir +
        ", where its certificate would be. Name its own: trainyard with --data DIR -- COMMAND"));
  }
  if (!found.note->workstation.address.empty()) return {};
  return std::unexpected(FailedPrecondition(
      "The server at " + found.url +
      " has nothing that Google's names could mean: it was started with --google-front off, or its first "
      "lines say why. Start it again: trainyard serve --data " +
      found.data_dir));
}

/// If the server requires login, its metadata server gives no token, and clients log in by files.
Result<OwnFiles> MakeOwnFiles(const FoundServer& found, const Arguments& arguments,
                              const SettingSources& sources, const std::string& project) {
  OwnFiles own;
  if (!found.asks_who) {
    TY_TRY(own.credentials, StandInCredentials(found, sources, Universe::kGoogles));
    return own;
  }
  TY_TRY(const ClientLogin login, MakeClientLogin(found, arguments, sources, Universe::kGoogles));
  own.token_file = login.token_file;
  own.credentials = login.account_file;
  const ClientBoto boto{
      .ca_file = found.note->workstation.ca_bundle, .project = project, .host = {}, .port = {}};
  TY_TRY(own.boto_file, WriteLoginBoto(found, login, boto, sources));
  return own;
}

}  // namespace

ExitStatus RunWith(const LocalSession& session) {
  if (!session.arguments.passthrough || session.arguments.passthrough->empty())
    return std::unexpected(UsageError("COMMAND", "Must be specified: trainyard with -- COMMAND [ARGS]"));
  TY_TRY(const FoundServer found, FindRunningServer(session.arguments, session.sources));
  TY_RETURN_IF_ERROR(CheckFront(found));
  const std::string& address = found.note->workstation.address;
  if (session.sources.variable(kWithin) == address)
    return replica::RunLedCommand({.argv = *session.arguments.passthrough, .environment = OwnVariables()});
  const ClientSetting project = ProjectOf(found, session.arguments, session.sources);
  TY_TRY(const OwnFiles own, MakeOwnFiles(found, session.arguments, session.sources, project.value));
  GoogleView view = MakeGoogleView(*found.note, found.data_dir, project.value, own, session.sources);
  view.variables[kWithin] = address;
  TY_TRY(const replica::OwnView entered, replica::EnterOwnView({.binds = view.binds}, view.hosts));
  return replica::RunLedCommand({.argv = *session.arguments.passthrough,
                                 .environment = OwnVariables(view.variables),
                                 .doors = std::move(view.doors),
                                 .gains_nothing = entered == replica::OwnView::kUserNamespace});
}

}  // namespace trainyard::cli
