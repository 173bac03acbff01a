#include "control/upkeep/drain_order.h"

#include "base/async/file.h"
#include "base/wire/json.h"
#include "base/wire/time.h"

namespace trainyard::control {

namespace {

constexpr std::size_t kOrderBytesMax = 64 * 1024;

std::string PathIn(const std::string& data) { return data + "/drain.json"; }

}  // namespace

Result<control::v1::Drain> ReadDrain(const std::string& data) {
  const Result<std::string> text = ReadFile(PathIn(data), kOrderBytesMax);
  if (!text && text.error().code == Code::kNotFound) return control::v1::Drain();
  if (!text) return std::unexpected(text.error());
  control::v1::Drain drain;
  const Status parsed = wire::ParseJson(*text, drain, "");
  if (parsed) return drain;
  return std::unexpected(DataLoss(PathIn(data) + " cannot be read: " + parsed.error().message +
                                  "; remove it if the server is to start jobs"));
}

Status KeepDrain(const std::string& data, const control::v1::Drain& drain) {
  return WriteFileAtomically(PathIn(data), wire::PrintJson(drain), 0600);
}

placement::Shortage DescribeDrain(const control::v1::Drain& drain) {
  const std::string who = drain.by().empty() ? "an administrator" : drain.by();
  return {.reason = "The server is draining: " + who + " turned it on at " +
                    wire::PrintTime(wire::FromProto(drain.since())) +
                    ", and nothing new starts until it is turned off (trainyard admin drain --off).",
          .unblock = "The job then starts in its turn."};
}

}  // namespace trainyard::control
