#include "net/front/real_buckets.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/async/file.h"
#include "base/async/on_pool.h"
#include "net/http/headers.h"
#include "net/http/uri.h"

namespace trainyard::front {

namespace {

/// What may precede "/b/BUCKET" in the JSON API.
constexpr std::array<std::string_view, 4> kJsonPrefixes = {
    "/storage/v1/b/", "/upload/storage/v1/b/", "/resumable/upload/storage/v1/b/", "/download/storage/v1/b/"};
/// First segments that are not a bucket: the JSON API and batches, whose parts may name any bucket.
constexpr std::array<std::string_view, 5> kServices = {"storage", "upload", "resumable", "download", "batch"};
/// More layers of percent-encoding than any server decodes.
constexpr int kDecodeMax = 4;

std::unexpected<Error> Elsewhere(const std::string& bucket) {
  return std::unexpected(Error{
      Code::kPermissionDenied,
      "gs://" + bucket +
          " is not a bucket of the real Cloud Storage that this server may use (--real-bucket). To copy "
          "between a real bucket and one of this server, read the object from one and write it to the other",
      {}});
}

std::vector<std::string_view> SplitAt(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Checks for a segment "." or "..", plain or percent-encoded several times: "..", "%2e%2E", "a%2F..%2Fb",
/// "%252e%252e".
Status CheckSteps(std::string_view text) {
  std::string decoded(text);
  for (int round = 0; round < kDecodeMax; ++round) {
    for (const std::string_view part : SplitAt(decoded, "/\\")) {
      if (part == "." || part == "..")
        return std::unexpected(InvalidArgument({},
                                               "\".\" and \"..\" between slashes are not forwarded to the "
                                               "real Cloud Storage: they may lead to another bucket there"));
    }
    auto once = http::PercentDecode(decoded);
    // The '%' is part of the name itself: the name is completely decoded.
    if (!once && round > 0) return {};
    if (!once) return std::unexpected(std::move(once).error());
    if (*once == decoded) return {};
    decoded = *std::move(once);
  }
  return std::unexpected(InvalidArgument({}, "it is percent-encoded too often"));
}

Status CheckBucket(std::string_view encoded, const std::set<std::string>& names) {
  TY_TRY(const std::string bucket, http::PercentDecode(encoded));
  if (names.contains(bucket)) return {};
  return Elsewhere(bucket);
}

bool IsJson(std::string_view path) {
  return std::ranges::any_of(kJsonPrefixes,
                             [path](std::string_view prefix) { return path.starts_with(prefix); });
}

/// ".../o/OBJECT/rewriteTo/b/BUCKET/o/OBJECT": names with slashes are encoded, so a segment of that name is
/// the verb.
Status CheckDestination(std::string_view path, const std::set<std::string>& names) {
  const std::vector<std::string_view> segments = SplitAt(path, "/");
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Result<std::string> verb = http::PercentDecode(segments[i]);
    if (!verb || (!EqualsIgnoringCase(*verb, "rewriteTo") && !EqualsIgnoringCase(*verb, "copyTo"))) continue;
    if (i + 2 >= segments.size()) return Elsewhere("");
    TY_RETURN_IF_ERROR(CheckBucket(segments[i + 2], names));
  }
  return {};
}

/// "/BUCKET/OBJECT" or "BUCKET/OBJECT", maybe with a query.
Status CheckSource(std::string_view source, const std::set<std::string>& names) {
  source = TrimSpace(source);
  TY_RETURN_IF_ERROR(CheckSteps(source));
  if (source.starts_with('/')) source.remove_prefix(1);
  TY_TRY(const std::string decoded, http::PercentDecode(source));
  return CheckBucket(std::string_view(decoded).substr(0, decoded.find_first_of("/?")), names);
}

using http::ClientRequest;
using http::ClientResponse;
using http::Request;
using http::Response;

constexpr std::size_t kThreads = 8;  // requests at a time; others wait
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::size_t kTokenBytesMax = 16 << 10;

/// Fields that are not forwarded: they belong to one connection or are set again.
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

/// One request and its response; used by one thread at a time.
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
  http::ConfineContent(response.headers);  // for a browser it is content of this server
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

/// Saves the body in a file, so that a slow client does not occupy a thread and a large body does not occupy
/// memory.
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

std::optional<std::string> BucketOfPath(std::string_view path, bool with_xml) {
  std::string_view rest = path.substr(std::min<std::size_t>(1, path.size()));
  bool found = with_xml;
  for (const std::string_view prefix : kJsonPrefixes) {
    if (!path.starts_with(prefix)) continue;
    rest = path.substr(prefix.size());
    found = true;
    with_xml = false;
  }
  if (!found) return std::nullopt;
  auto name = http::PercentDecode(rest.substr(0, rest.find('/')));
  if (!name || name->empty()) return std::nullopt;
  if (with_xml && std::ranges::find(kServices, std::string_view(*name)) != kServices.end())
    return std::nullopt;
  return *std::move(name);
}

Status CheckReach(const http::Request& request, const std::set<std::string>& names) {
  TY_RETURN_IF_ERROR(CheckSteps(request.path));
  if (IsJson(request.path)) TY_RETURN_IF_ERROR(CheckDestination(request.path, names));
  for (const auto& [name, value] : request.headers.fields()) {
    if (EqualsIgnoringCase(name, "x-goog-copy-source") || EqualsIgnoringCase(name, "x-amz-copy-source"))
      TY_RETURN_IF_ERROR(CheckSource(value, names));
  }
  return {};
}

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
