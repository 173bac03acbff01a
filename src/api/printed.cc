#include "api/printed.h"

#include <cstddef>

#include "api/system_parameters.h"
#include "net/http/gzip.h"
#include "net/http/text.h"

namespace trainyard::api {

namespace {
constexpr std::size_t kCompressedHereMin = std::size_t{256} << 10;
}  // namespace

boost::asio::awaitable<http::Response> Compressed(boost::asio::thread_pool& pool,
                                                  const http::Request& request, std::string json) {
  const bool compresses = json.size() >= kCompressedHereMin && !ShapesAnswer(request) &&
                          http::AcceptsGzip(request.headers.Get("Accept-Encoding"));
  if (!compresses) co_return http::Response::Json(std::move(json));
  auto compress = [json = std::move(json)] { return http::GzipCompress(json); };
  std::string compressed = co_await OnPool(pool, std::move(compress));
  http::Response response = http::Response::Json(std::move(compressed));
  response.headers.Set("Content-Encoding", "gzip");
  response.headers.Set("Vary", "Accept-Encoding");
  co_return response;
}

}  // namespace trainyard::api
