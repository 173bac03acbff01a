// gRPC over HTTP/2: whatever a client sends, the connection ends, each call is complete, and what is sent
// back is whole frames. The text forms are read back as they were printed, and a message is the same however
// its bytes are cut. The first byte says how to cut.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/async/task_group.h"
#include "base/check.h"
#include "net/grpc/grpc_session.h"
#include "net/grpc/grpc_text.h"
#include "net/grpc/message_reader.h"
#include "net/grpc/testing/scripted_transport.h"

namespace {

namespace grpc = trainyard::grpc;
namespace http = trainyard::http;

constexpr std::size_t kMessageMax = std::size_t{64} << 10;

void CheckTexts(std::string_view text) {
  const std::string printed = grpc::PrintStatusText(text);
  TY_CHECK(printed.size() <= grpc::kStatusFieldBytesMax);
  TY_CHECK(std::ranges::all_of(printed, [](char c) { return c >= ' ' && c <= '~'; }));
  TY_CHECK(text.starts_with(grpc::ParseStatusText(printed)));
  TY_CHECK(grpc::ParseStatusText(text).size() <= text.size());
  TY_CHECK(grpc::ParseBinary(grpc::PrintBinary(text)) == text);
  static_cast<void>(grpc::ParseBinary(text));
  const auto timeout = grpc::ParseTimeout(text);
  TY_CHECK(!timeout || (timeout->count() >= 0 && *timeout <= grpc::kTimeoutMax));
}

trainyard::Result<std::string> Read(std::string_view body, std::size_t step) {
  grpc::MessageReader reader(kMessageMax);
  for (; !body.empty(); body.remove_prefix(std::min(step, body.size()))) {
    const trainyard::Status added = reader.Add(body.substr(0, step));
    if (!added) return std::unexpected(added.error());
  }
  return reader.Take("gzip");
}

void CheckMessage(std::string_view body, std::size_t step) {
  const auto whole = Read(body, body.size() + 1);
  TY_CHECK(whole == Read(body, step));
  TY_CHECK(!whole || whole->size() <= kMessageMax);
  if (body.size() <= kMessageMax) TY_CHECK(Read(grpc::PrintMessage(body), step) == body);
}

void CheckConnection(std::string_view bytes, std::size_t step) {
  boost::asio::io_context loop;
  grpc::GrpcOptions options;
  options.message_bytes_max = kMessageMax;
  options.handler = [](grpc::UnaryCall& call) -> boost::asio::awaitable<grpc::Reply> {
    TY_CHECK(call.message.size() <= kMessageMax && call.peer != nullptr);
    co_return grpc::Reply{.message = call.message};
  };
  std::string received;
  const auto channel = std::make_shared<http::Channel>(
      loop.get_executor(), std::make_unique<grpc::ScriptedTransport>(std::string(bytes), step, received));
  trainyard::TaskGroup task(loop.get_executor());
  task.Spawn(grpc::Serve(channel, options));
  while (task.size() > 0) TY_CHECK(loop.run_one() > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t step = 1 + std::size_t{data[0]} * 4;
  CheckTexts(bytes);
  CheckMessage(bytes, step);
  CheckConnection(bytes, step);
  return 0;
}
