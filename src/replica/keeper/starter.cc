#include "replica/keeper/starter.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "base/process/descriptor_limit.h"
#include "base/process/program_pages.h"
#include "base/process/variables.h"
#include "replica/keeper/keeper_message.h"

namespace trainyard::keeper {

namespace {

/// False: the server has closed its end.
bool ServeRequest(int socket, SupervisorList& supervisors, const std::vector<std::string>& variables) {
  const Result<Packet> packet = ReceivePacket(socket);
  if (!packet) return packet.error().code != Code::kUnavailable;
  Result<Request> request = ParseRequest(packet->bytes);
  Answer answer;
  if (!request || !request->has_start()) {
    answer = Refusal(request ? InvalidArgument("", "the starter only starts supervisors") : request.error());
    return SendPacket(socket, answer.SerializeAsString()).has_value();
  }
  request->mutable_start()->mutable_environment()->Assign(variables.begin(), variables.end());
  const auto started = supervisors.Start(request->start(), packet->descriptors);
  if (!started) return SendPacket(socket, Refusal(started.error()).SerializeAsString()).has_value();
  answer.mutable_started()->set_pid(static_cast<std::uint32_t>(started->pid));
  return SendPacket(socket, answer.SerializeAsString(), std::span(&started->pidfd, 1)).has_value();
}

}  // namespace

int RunStarter(SupervisorMain main) {
  const UniqueFd socket(kStarterSocket);
  pollfd own{.fd = socket.get(), .events = POLLIN, .revents = 0};
  if (poll(&own, 1, 0) < 0 || (own.revents & POLLNVAL) != 0) {
    std::fputs("trainyard starter is started by the server only\n", stderr);
    return 2;
  }
  prctl(PR_SET_NAME, "trainyard-start");
  RaiseDescriptorLimit();  // each running one needs a pidfd; they get the old limit
  SupervisorList supervisors(UnitGroups(), {.main = main, .is_private = true});
  const std::vector<std::string> variables = OwnVariables();
  ReleaseProgramPages();
  for (;;) {
    std::vector<pollfd> waited = {own};
    supervisors.AddTo(waited);
    if (poll(waited.data(), waited.size(), -1) < 0) continue;
    supervisors.Reap();
    if (waited.front().revents != 0 && !ServeRequest(socket.get(), supervisors, variables)) return 0;
  }
}

}  // namespace trainyard::keeper
