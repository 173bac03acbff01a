#include "stores/identity/bucket_default.h"

#include <array>
#include <initializer_list>
#include <string>

#include "rules/iam/policy_form.h"

namespace trainyard::identity {

iam::v1::Policy BucketDefault(std::string_view project) {
  iam::v1::Policy policy = iam::NoPolicy();
  policy.set_version(1);
  const auto bind = [&](const char* role, std::initializer_list<const char*> kinds) {
    iam::v1::Binding& binding = *policy.add_bindings();
    binding.set_role(role);
    for (const char* kind : kinds) binding.add_members(std::string(kind).append(project));
  };
  bind("roles/storage.legacyBucketOwner", {"projectEditor:", "projectOwner:"});
  bind("roles/storage.legacyBucketReader", {"projectViewer:"});
  bind("roles/storage.legacyObjectOwner", {"projectEditor:", "projectOwner:"});
  bind("roles/storage.legacyObjectReader", {"projectViewer:"});
  return policy;
}

}  // namespace trainyard::identity
