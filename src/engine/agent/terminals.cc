#include "engine/agent/terminals.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "net/mux/pump.h"

namespace trainyard::agent {

namespace asio = boost::asio;

namespace {

constexpr std::string_view kPath = "/agent/v1/terminal/";
constexpr std::size_t kIdBytesMax = 100;

}  // namespace

Terminals::Terminals(asio::any_io_executor loop, Uplink& uplink)
    : loop_(loop), uplink_(uplink), tasks_(std::move(loop)) {}

Status Terminals::CheckId(std::string_view id) {
  const auto fits = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' || c == '_';
  };
  if (!id.empty() && id.size() <= kIdBytesMax && std::ranges::all_of(id, fits)) return {};
  return std::unexpected(InvalidArgument("terminal", "is no name of a terminal"));
}

asio::awaitable<Status> Terminals::Add(std::string id, shell::Terminal terminal) {
  std::string path = std::string(kPath) + id;
  std::shared_ptr<mux::Stream> stream = co_await uplink_.Open(std::move(path), std::chrono::milliseconds(0));
  if (!stream) co_return std::unexpected(Unavailable("the connection to the server is gone"));
  masters_[id].Reset(::fcntl(terminal.master.get(), F_DUPFD_CLOEXEC, 0));
  tasks_.Spawn(Serve(std::move(id), std::move(terminal), std::move(stream)));
  co_return Status();
}

asio::awaitable<void> Terminals::Serve(std::string id, shell::Terminal terminal,
                                       std::shared_ptr<mux::Stream> stream) {
  co_await mux::Pump(std::move(stream), std::move(terminal.master));
  masters_.erase(id);
}

void Terminals::Resize(const std::string& id, shell::TerminalSize size) {
  const auto found = masters_.find(id);
  if (found != masters_.end()) shell::Resize(found->second.get(), size);
}

}  // namespace trainyard::agent
