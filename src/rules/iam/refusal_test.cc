#include "rules/iam/refusal.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::iam {
namespace {

const std::string kAnn = "user:ann@example.com";

Error Denied(std::string message, std::string permission, std::string resource) {
  return {.code = Code::kPermissionDenied,
          .message = std::move(message),
          .info = ErrorInfo{
              .reason = "IAM_PERMISSION_DENIED",
              .domain = "iam.googleapis.com",
              .metadata = {{"permission", std::move(permission)}, {"resource", std::move(resource)}}}};
}

TEST(Refusal, NamesThePermissionTheResourceAndTheCommand) {
  EXPECT_EQ(Refusal(kAnn, "ml.jobs.create", Resource::Project("p"), true),
            Denied("Permission 'ml.jobs.create' denied on resource 'projects/p' (or it may not exist). An "
                   "administrator gives it with: gcloud projects add-iam-policy-binding p "
                   "--member=user:ann@example.com --role=roles/ml.developer",
                   "ml.jobs.create", "projects/p"));
  EXPECT_EQ(
      Refusal(kAnn, "ml.jobs.cancel", Resource::Job("p", "j"), true),
      Denied("Permission 'ml.jobs.cancel' denied on resource 'projects/p/jobs/j' (or it may not exist). "
             "An administrator gives it with: gcloud projects add-iam-policy-binding p "
             "--member=user:ann@example.com --role=roles/ml.admin",
             "ml.jobs.cancel", "projects/p/jobs/j"));
  const std::string account = "t@p.iam.gserviceaccount.com";
  EXPECT_EQ(Refusal(kAnn, "iam.serviceAccounts.actAs", Resource::ServiceAccount("p", account), true).message,
            "Permission 'iam.serviceAccounts.actAs' denied on resource 'projects/p/serviceAccounts/" +
                account +
                "' (or it may not exist). An administrator gives it with: gcloud iam service-accounts "
                "add-iam-policy-binding " +
                account + " --member=user:ann@example.com --role=roles/iam.serviceAccountUser");
  EXPECT_EQ(Refusal(kAnn, "trainyard.server.drain", Resource::Installation(), false).message,
            "Permission 'trainyard.server.drain' denied on resource 'trainyard' (or it may not exist). An "
            "administrator gives it with: trainyard auth token create --principal=user:ann@example.com "
            "--role=roles/trainyard.operator");
}

TEST(Refusal, OfStorageSaysItAsStorageDoes) {
  EXPECT_EQ(
      Refusal(kAnn, "storage.objects.get", Resource::Bucket("b"), true),
      Denied("ann@example.com does not have storage.objects.get access to the Google Cloud Storage "
             "object. Permission 'storage.objects.get' denied on resource 'projects/_/buckets/b' (or it "
             "may not exist). An administrator gives it with: gcloud storage buckets "
             "add-iam-policy-binding gs://b --member=user:ann@example.com "
             "--role=roles/storage.objectViewer",
             "storage.objects.get", "projects/_/buckets/b"));
  const auto begins = [](std::string_view permission, const Resource& resource, std::string_view words) {
    return Refusal(kAnn, permission, resource, true)
        .message.starts_with("ann@example.com does not have " + std::string(permission) + " access to the " +
                             std::string(words));
  };
  EXPECT_TRUE(begins("storage.buckets.get", Resource::Bucket("b"), "Google Cloud Storage bucket. "));
  EXPECT_TRUE(begins("storage.buckets.list", Resource::Project("p"), "Google Cloud project. "));
}

TEST(Refusal, OfWhatMayNotBeSeenIsThatOfWhatIsNotThere) {
  EXPECT_EQ(Refusal(kAnn, "ml.jobs.get", Resource::Job("p", "j"), false),
            (Error{Code::kNotFound, "The job cannot be found.", "name"}));
  for (const Resource& resource :
       {Resource::Job("p", "j"), Resource::Bucket("b"), Resource::ServiceAccount("p", "t@p.x")}) {
    EXPECT_EQ(Refusal(kAnn, "p.q", resource, false), Absent("p.q", resource));
    EXPECT_EQ(Refusal(kAnn, "p.q", resource, true).code, Code::kPermissionDenied);
  }
  for (const Resource& resource : {Resource::Project("p"), Resource::Installation()})
    EXPECT_EQ(Refusal(kAnn, "p.q", resource, false), Refusal(kAnn, "p.q", resource, true));
}

TEST(Refusal, OfAPermissionThatNoRoleHasTellsNoCommand) {
  EXPECT_EQ(Refusal(kAnn, "ml.models.get", Resource::Project("p"), true).message,
            "Permission 'ml.models.get' denied on resource 'projects/p' (or it may not exist).");
}

// The project comes from the caller's URL, and the administrator pastes the command into a shell.
TEST(Refusal, QuotesWhatAShellWouldRead) {
  const auto command = [](const std::string& project) {
    const std::string message = Refusal(kAnn, "ml.jobs.create", Resource::Project(project), true).message;
    const std::string begin = "add-iam-policy-binding ";
    const std::size_t at = message.find(begin) + begin.size();
    return message.substr(at, message.find(" --member") - at);
  };
  EXPECT_EQ(command("my-project:1"), "my-project:1");
  EXPECT_EQ(command("$(id)"), "'$(id)'");
  EXPECT_EQ(command("a;b c"), "'a;b c'");
  EXPECT_EQ(command("a'b"), "'a'\\''b'");
  EXPECT_EQ(command("--all"), "'--all'");
  EXPECT_EQ(command(""), "''");
}

TEST(NotLoggedInTest, SaysWhatWasMissing) {
  const Error error = NotLoggedIn();
  EXPECT_EQ(error.code, Code::kUnauthenticated);
  EXPECT_TRUE(
      error.message.starts_with("Request is missing required authentication credential. Expected OAuth 2 "
                                "access token, login cookie or other valid authentication credential."))
      << error.message;
  EXPECT_EQ(error.info, (ErrorInfo{.reason = "CREDENTIALS_MISSING", .domain = "googleapis.com"}));
  EXPECT_EQ(NotLoggedIn("ml.jobs.get"), error);
  EXPECT_EQ(NotLoggedIn("storage.objects.get").message,
            "Anonymous caller does not have storage.objects.get access to the Google Cloud Storage object. " +
                error.message);
}

TEST(BadTokenTest, KeepsTheReasonOfWhoLooked) {
  const Error expired = BadToken(Unauthenticated("Token t expired.", kTokenExpired));
  EXPECT_TRUE(expired.message.ends_with(" Token t expired.")) << expired.message;
  EXPECT_EQ(expired.info, (ErrorInfo{.reason = "ACCESS_TOKEN_EXPIRED", .domain = "googleapis.com"}));
  EXPECT_EQ(BadToken(Error{Code::kUnauthenticated, "No.", ""}), BadToken("No."));
}

TEST(BadTokenTest, SaysWhy) {
  EXPECT_EQ(
      BadToken("The token has expired."),
      (Error{.code = Code::kUnauthenticated,
             .message = "Request had invalid authentication credentials. Expected OAuth 2 access token, "
                        "login cookie or other valid authentication credential. The token has expired.",
             .info = ErrorInfo{.reason = "ACCESS_TOKEN_TYPE_UNSUPPORTED", .domain = "googleapis.com"}}));
}

}  // namespace
}  // namespace trainyard::iam
