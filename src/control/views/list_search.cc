#include "control/views/list_search.h"

#include "base/wire/time.h"
#include "control/run/keys.h"

namespace trainyard::control {
namespace {

constexpr char kBinding = '.';  // occurs in no token of the store
constexpr std::size_t kMarkDigits = 16;

/// Not a secret: a client that forges it only deceives itself. The store's own token is sealed.
std::string FilterMark(std::string_view filter) { return Mac("filter", filter).substr(0, kMarkDigits); }

}  // namespace

std::string Etag(const v1::JobRecord& record) { return std::to_string(record.revision()); }

std::function<bool(v1::JobRecord&)> ListSearch::EndedJobs(std::shared_ptr<ListSearch> search) {
  return [search = std::move(search)](v1::JobRecord& record) {
    if (search->IsTooOld(record)) search->past_window_ = true;
    if (search->past_window_) return false;
    return !record.job().has_end_time() || WantsEnded(*search, record);
  };
}

bool ListSearch::WantsEnded(const ListSearch& search, v1::JobRecord& record) {
  if (search.IsTooOld(record)) return false;
  record.mutable_job()->set_etag(Etag(record));
  return search.Wants(record.job());
}

bool ListSearch::matches_all() const noexcept {
  const auto* all = std::get_if<wire::And>(&filter_.node);
  return all != nullptr && all->terms.empty();
}

bool ListSearch::IsTooOld(const v1::JobRecord& record) const {
  return wire::FromProto(record.job().create_time()) < oldest_;
}

std::string BindPageToken(std::string token, std::string_view filter) {
  if (token.empty() || filter.empty()) return token;
  token.push_back(kBinding);
  return token + FilterMark(filter);
}

Result<std::string> UnbindPageToken(std::string_view token, std::string_view filter) {
  const std::size_t binding = token.rfind(kBinding);
  const std::string_view mark =
      binding == std::string_view::npos ? std::string_view() : token.substr(binding + 1);
  const bool bound_here = filter.empty() ? binding == std::string_view::npos : mark == FilterMark(filter);
  if (!token.empty() && !bound_here)
    return std::unexpected(InvalidArgument(
        "page_token", "The page token is not valid for this request: it is of another filter"));
  return std::string(token.substr(0, binding));
}

}  // namespace trainyard::control
