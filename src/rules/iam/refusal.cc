#include "rules/iam/refusal.h"

#include <algorithm>
#include <utility>

#include "rules/iam/principal.h"
#include "rules/iam/roles.h"

namespace trainyard::iam {
namespace {

constexpr std::string_view kExpected =
    " Expected OAuth 2 access token, login cookie or other valid authentication credential.";
constexpr std::string_view kHowToLogIn =
    " Send the token that an administrator of this server gave you as \"Authorization: Bearer TOKEN\"; "
    "gcloud takes it from CLOUDSDK_AUTH_ACCESS_TOKEN.";

/// Projects and buckets come from the caller, and an administrator may paste the command.
std::string ShellWord(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._:/@%+=-").find(c) != std::string_view::npos;
  };
  if (!text.empty() && text.front() != '-' && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// The command that binds a role on the resource, without its flags.
std::string WordsToBind(const Resource& resource) {
  switch (resource.kind) {
    case Resource::Kind::kInstallation: return "trainyard auth token create";
    case Resource::Kind::kProject:
    case Resource::Kind::kJob: return "gcloud projects add-iam-policy-binding " + ShellWord(resource.project);
    case Resource::Kind::kBucket:
      return "gcloud storage buckets add-iam-policy-binding " + ShellWord("gs://" + resource.name);
    case Resource::Kind::kServiceAccount:
      return "gcloud iam service-accounts add-iam-policy-binding " + ShellWord(resource.name);
  }
  return {};
}

/// The command that grants the permission; empty: no role has it.
std::string HowToGive(std::string_view principal, std::string_view permission, const Resource& resource) {
  const Role* role = NarrowestRole(permission);
  if (role == nullptr) return {};
  return " An administrator gives it with: " + BindingCommand(principal, role->name, resource);
}

bool IsOfStorage(std::string_view permission) { return permission.starts_with("storage."); }

/// "ann@example.com does not have storage.objects.get access to the Google Cloud Storage object."
std::string StorageSentence(std::string_view who, std::string_view permission) {
  const bool on_project = permission == "storage.buckets.create" || permission == "storage.buckets.list";
  std::string text = std::string(who).append(" does not have ").append(permission).append(" access to the ");
  if (on_project) return text.append("Google Cloud project.");
  const bool is_object = permission.starts_with("storage.objects.") && permission != "storage.objects.list";
  return text.append("Google Cloud Storage ").append(is_object ? "object." : "bucket.");
}

Error AbsentBucket(std::string_view permission, const std::string& name) {
  const std::string what = "The specified bucket does not exist: " + name + ". ";
  if (permission == "storage.objects.create") {
    return NotFound(what +
                    "This server does not make buckets on first use; make it with `gcloud storage buckets "
                    "create gs://" +
                    name + "`");
  }
  return NotFound(what + "A bucket of the real Cloud Storage is read with `trainyard serve --real-bucket " +
                  name + "`");
}

}  // namespace

std::string BindingCommand(std::string_view principal, std::string_view role, const Resource& resource) {
  const bool is_installation = resource.kind == Resource::Kind::kInstallation;
  std::string text = WordsToBind(resource);
  text.append(is_installation ? " --principal=" : " --member=").append(ShellWord(principal));
  return text.append(" --role=").append(role);
}

Error Absent(std::string_view permission, const Resource& resource) {
  switch (resource.kind) {
    case Resource::Kind::kJob: return {Code::kNotFound, "The job cannot be found.", "name"};
    case Resource::Kind::kBucket: return AbsentBucket(permission, resource.name);
    case Resource::Kind::kServiceAccount: return NotFound("Unknown service account: " + resource.name);
    case Resource::Kind::kInstallation:
    case Resource::Kind::kProject: break;
  }
  return NotFound(NameOf(resource) + " does not exist");
}

Error Refusal(std::string_view principal, std::string_view permission, const Resource& resource,
              bool is_seen) {
  const bool is_named =
      resource.kind == Resource::Kind::kInstallation || resource.kind == Resource::Kind::kProject;
  if (!is_seen && !is_named) return Absent(permission, resource);
  const std::string name = NameOf(resource);
  std::string message;
  if (IsOfStorage(permission)) message = StorageSentence(EmailOf(principal), permission) + " ";
  message.append("Permission '").append(permission).append("' denied on resource '").append(name);
  message.append("' (or it may not exist).").append(HowToGive(principal, permission, resource));
  return {.code = Code::kPermissionDenied,
          .message = std::move(message),
          .field = {},
          .violations = {},
          .info = ErrorInfo{.reason = "IAM_PERMISSION_DENIED",
                            .domain = "iam.googleapis.com",
                            .metadata = {{"permission", std::string(permission)}, {"resource", name}}}};
}

Error Unauthenticated(std::string message, std::string_view reason) {
  return {.code = Code::kUnauthenticated,
          .message = std::move(message),
          .field = {},
          .violations = {},
          .info = ErrorInfo{.reason = std::string(reason), .domain = "googleapis.com", .metadata = {}}};
}

Error NotLoggedIn(std::string_view permission) {
  std::string message;
  if (IsOfStorage(permission)) message = StorageSentence("Anonymous caller", permission) + " ";
  message.append("Request is missing required authentication credential.").append(kExpected);
  return Unauthenticated(message.append(kHowToLogIn), kCredentialsMissing);
}

Error BadToken(std::string_view why, std::string_view reason) {
  std::string message = "Request had invalid authentication credentials.";
  message.append(kExpected).append(" ").append(why);
  return Unauthenticated(std::move(message), reason);
}

Error BadToken(const Error& why) {
  return BadToken(why.message, why.info ? std::string_view(why.info->reason) : kTokenUnsupported);
}

}  // namespace trainyard::iam
