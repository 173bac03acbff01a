#include "rules/vertex/list_filter.h"

namespace trainyard::vertex {

Result<ResourceFilter> ResourceFilter::Parse(std::string_view text,
                                             const google::protobuf::Descriptor& type) {
  TY_TRY(wire::Filter filter, wire::ParseFilter(text));
  TY_RETURN_IF_ERROR(wire::CheckFilter(filter, type));
  return ResourceFilter(std::move(filter));
}

bool ResourceFilter::Matches(const google::protobuf::Message& message) const {
  return wire::Matches(filter_, message);
}

}  // namespace trainyard::vertex
