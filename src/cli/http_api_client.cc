#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include "base/text/percent.h"
#include "cli/api_client.h"
#include "net/http/client.h"
#include "net/http/client_stream.h"

namespace trainyard::cli {
namespace {

constexpr int kTriesMax = 5;
constexpr int kPatientTriesMax = 7;  // about half a minute with the waits between them
constexpr int kLongestWaitPower = 3;
constexpr std::chrono::seconds kWaitMax{60};

http::Method MethodOf(ApiRequest::Method method) {
  switch (method) {
    case ApiRequest::Method::kGet: return http::Method::kGet;
    case ApiRequest::Method::kPost: return http::Method::kPost;
    case ApiRequest::Method::kPut: return http::Method::kPut;
    case ApiRequest::Method::kPatch: return http::Method::kPatch;
    case ApiRequest::Method::kDelete: return http::Method::kDelete;
  }
  return http::Method::kGet;
}

std::chrono::seconds WaitBefore(int attempt, const std::string& retry_after) {
  int seconds = 0;
  auto [end, error] = std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), seconds);
  if (error == std::errc() && end == retry_after.data() + retry_after.size() && seconds >= 0)
    return std::min(std::chrono::seconds(seconds), kWaitMax);
  return std::chrono::seconds(1 << std::min(attempt - 1, kLongestWaitPower));
}

class HttpApiStream : public ApiStream {
 public:
  explicit HttpApiStream(http::ClientStream stream) : stream_(std::move(stream)) {}
  int status() const override { return stream_.status(); }
  Result<std::string> Read(std::chrono::milliseconds wait_max) override { return stream_.Read(wait_max); }
  int descriptor() const override { return stream_.descriptor(); }

 private:
  http::ClientStream stream_;
};

class HttpApiClient : public ApiClient {
 public:
  HttpApiClient(http::Endpoint endpoint, ApiEndpoint where)
      : endpoint_(endpoint), client_(std::move(endpoint)), where_(std::move(where)) {}

  Result<ApiResponse> Send(const ApiRequest& request) override {
    for (int attempt = 1;; ++attempt) {
      Result<ApiResponse> response = SendOnce(request);
      bool again = response ? response->status == 429 || response->status >= 500 : request.patient;
      if (!again || attempt == (response ? kTriesMax : kPatientTriesMax)) return response;
      if (!response && where_.on_wait) std::exchange(where_.on_wait, nullptr)();
      std::this_thread::sleep_for(WaitBefore(attempt, response ? response->retry_after : ""));
    }
  }

  Result<std::unique_ptr<ApiStream>> Open(const ApiRequest& request) override {
    http::ClientRequest sent = HeadOf(request);
    sent.body = request.body;
    Result<http::ClientStream> stream = http::ClientStream::Open(endpoint_, sent);
    if (!stream) return std::unexpected(Explain(std::move(stream).error()));
    return std::make_unique<HttpApiStream>(*std::move(stream));
  }

 private:
  http::ClientRequest HeadOf(const ApiRequest& request) const {
    http::ClientRequest sent;
    sent.method = MethodOf(request.method);
    sent.target = Target(request);
    for (const auto& [name, value] : request.headers) sent.headers.Add(name, value);
    if (!where_.token.empty()) sent.headers.Add("Authorization", "Bearer " + where_.token);
    return sent;
  }

  Result<ApiResponse> SendOnce(const ApiRequest& request) {
    http::ClientRequest sent = HeadOf(request);
    if (request.file) {
      http::UploadBody body;
      body.descriptor = request.file->descriptor;
      body.offset = request.file->offset;
      body.length = request.file->length;
      body.progress = request.progress;
      sent.body = std::move(body);
    } else {
      sent.body = request.body;
      sent.progress = request.progress;
    }
    sent.download_descriptor = request.download_descriptor;
    Result<http::ClientResponse> answer = client_.Send(std::move(sent));
    if (!answer) return std::unexpected(Explain(std::move(answer).error()));
    ApiResponse response;
    response.status = answer->status;
    response.body = std::move(answer->body);
    response.location = answer->headers.Get("Location");
    response.range = answer->headers.Get("Range");
    response.retry_after = answer->headers.Get("Retry-After");
    return response;
  }

  Error Explain(Error error) const {
    const bool is_absent = error.code == Code::kUnavailable || error.code == Code::kNotFound;
    if (is_absent && !where_.hidden.empty())
      error.message = where_.hidden;
    else if (is_absent)
      error.message = "Cannot reach the server at " + where_.url + " (" + error.message +
                      "). Start a server with `trainyard serve`, or set --server or TRAINYARD_SERVER.";
    else if (error.code == Code::kDeadlineExceeded)
      error.message = "The server at " + where_.url + " does not answer (" + error.message + ").";
    else if (error.code == Code::kUnauthenticated)
      error.message = "The certificate of " + where_.url + " is not trusted (" + error.message +
                      "). Set SSL_CERT_FILE to its CA certificate.";
    return error;
  }

  http::Endpoint endpoint_;
  http::Client client_;
  ApiEndpoint where_;
};

}  // namespace

Result<std::unique_ptr<ApiStream>> ApiClient::Open(const ApiRequest& /*request*/) {
  return std::unexpected(Error{Code::kUnimplemented, "no streams", ""});
}

Result<std::unique_ptr<ApiClient>> MakeApiClient(const ApiEndpoint& endpoint) {
  std::string url = endpoint.url;
  while (url.ends_with('/') && !url.starts_with("unix:")) url.pop_back();
  TY_TRY(http::Endpoint parsed, http::Endpoint::Parse(url));
  if (!endpoint.ca_file.empty()) parsed.ca_file = endpoint.ca_file;
  return std::make_unique<HttpApiClient>(std::move(parsed), endpoint);
}

std::string Target(const ApiRequest& request) {
  std::string target = request.path;
  char separator = target.find('?') == std::string::npos ? '?' : '&';
  for (const auto& [name, value] : request.query) {
    target += separator + text::PercentEncode(name) + "=" + text::PercentEncode(value);
    separator = '&';
  }
  return target;
}

}  // namespace trainyard::cli
