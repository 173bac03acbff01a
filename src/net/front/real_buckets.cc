#include "net/front/real_buckets.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/async/file.h"
#include "base/async/on_pool.h"
#include "net/front/real_bucket_rules.h"
#include "net/http/headers.h"

namespace trainyard::front {

namespace {

using http::ClientRequest;
using http::ClientResponse;
using http::Request;
using http::Response;

constexpr std::size_t kThreads = 8;  // requests at a time; others wait
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::size_t kTokenBytesMax = 16 << 10;

/// Fields that belong to one connection or are set again: not passed on.
constexpr std::array<std::string_view, 10> kOwnFields = {
    "Host",   "Connection",    "Keep-Alive",       "Transfer-Encoding", "Content-Length",
    "Expect", "Authorization", "Content-Encoding", "Accept-Encoding",   "Upgrade"};
constexpr std::array<std::string_view, 4> kOwnAnswerFields = {"Connection", "Keep-Alive", "Transfer-Encoding",
                                                              "Content-Length"};

template <class Names>
http::Headers Without(const http::Headers& headers, const Names& names) {
  http::Headers kept;
  for (const auto& [name, value] : headers.fields()) {
    bool own = false;
    for (const std::string_view other : names) own = own || EqualsIgnoringCase(name, other);
    if (!own) kept.Add(name, value);
  }
  return kept;
}

Result<UniqueFd> OpenSpool(const std::filesystem::path& folder) {
  return OpenFile(folder, O_RDWR | O_TMPFILE, 0600);
}

/// One request and its answer; used by one thread at a time.
struct Exchange {
  http::Endpoint upstream;
  ClientRequest request;
  UniqueFd sent;
  UniqueFd received;
};

Result<ClientResponse> Send(Exchange& exchange) {
  return http::Client(exchange.upstream).Send(std::move(exchange.request));
}

Response MakeResponse(Exchange& exchange, ClientResponse answer) {
  Response response;
  response.status = answer.status;
  response.headers = Without(answer.headers, kOwnAnswerFields);
  http::ConfineContent(response.headers);  // a browser takes it as ours
  if (answer.downloaded == 0) {
    response.body = std::move(answer.body);
    return response;
  }
  const auto close = [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  };
  response.body =
      http::FileBody{.descriptor = std::shared_ptr<const int>(new int(exchange.received.Release()), close),
                     .offset = 0,
                     .length = answer.downloaded};
  return response;
}

/// Saves the body in a file, so that a slow client occupies no thread and a large body no memory.
http::asio::awaitable<Result<std::uint64_t>> Spool(http::asio::thread_pool& threads, http::BodyReader& body,
                                                   int file) {
  std::uint64_t size = 0;
  std::vector<std::byte> buffer(kPieceBytes);
  while (true) {
    TY_CO_TRY(const std::size_t got, co_await body.ReadSome(buffer));
    if (got == 0) co_return size;
    size += got;
    auto write = [&buffer, file, got] {
      return WriteAll(file, {reinterpret_cast<const char*>(buffer.data()), got});
    };
    TY_CO_RETURN_IF_ERROR(co_await OnPool(threads, std::move(write)));
  }
}

}  // namespace

RealBuckets::RealBuckets(Options options) : options_(std::move(options)), threads_(kThreads) {}

bool RealBuckets::Has(const Request& request, bool with_xml) const {
  const auto bucket = BucketOfPath(request.path, with_xml);
  return bucket && options_.names.contains(*bucket);
}

http::asio::awaitable<Result<Response>> RealBuckets::Forward(Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckReach(request, options_.names));
  auto exchange = std::make_shared<Exchange>();  // shared with the thread that sends it
  exchange->upstream = options_.upstream;
  TY_CO_TRY(exchange->sent, OpenSpool(options_.spool_dir));
  TY_CO_TRY(exchange->received, OpenSpool(options_.spool_dir));
  TY_CO_TRY(const std::uint64_t size, co_await Spool(threads_, *request.body, exchange->sent.get()));
  ClientRequest& passed = exchange->request;
  passed.method = request.method;
  passed.target = request.target;
  passed.headers = Without(request.headers, kOwnFields);
  if (!options_.token_file.empty()) {
    TY_CO_TRY(const std::string token, ReadFile(options_.token_file, kTokenBytesMax));
    passed.headers.Set("Authorization", "Bearer " + std::string(TrimSpace(token)));
  }
  if (size > 0)
    passed.body = http::UploadBody{.descriptor = exchange->sent.get(), .offset = 0, .length = size};
  passed.download_descriptor = exchange->received.get();
  auto send = [exchange] { return Send(*exchange); };
  Result<ClientResponse> answer = co_await OnPool(threads_, std::move(send));
  if (!answer) {
    Error error = std::move(answer).error();
    error.message = "the real Cloud Storage: " + error.message;
    co_return std::unexpected(std::move(error));
  }
  co_return MakeResponse(*exchange, *std::move(answer));
}

}  // namespace trainyard::front
