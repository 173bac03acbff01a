#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "programs/runtimes/user_environment.h"
#include "programs/sandbox/namespaces/file_view.h"
#include "trainyard/replica/v1/replica.pb.h"

/// What makes `gs://` work in a replica for programs that do not know this service: Google's host names mean
/// the server's front there. Source: spec environment.md section 11; docs/storage.md for users.
namespace trainyard::replica {

/// Where the buckets are as files.
inline constexpr const char* kGcsFolder = "/gcs";
/// Beside the CA bundle: gsutil's settings, those of the command `curl`, and the installation's authority
/// alone. TensorFlow reads its file of authorities again for each request, which takes 10 ms with all that a
/// system trusts: it gets the short one (CURL_CA_BUNDLE), and the command curl, which reads the same
/// variable, is given the bundle by its settings.
inline constexpr std::string_view kBotoFile = "boto.cfg";
inline constexpr std::string_view kCurlFile = ".curlrc";
inline constexpr std::string_view kOwnAuthority = "ca.pem";
/// The bundle for Java, and gsutil's settings on a user's own machine (`trainyard with`).
inline constexpr std::string_view kJavaFile = "java-cacerts";
inline constexpr std::string_view kUsersBotoFile = "users-boto.cfg";

/// Files in which programs look for the machine's certificate authorities, by distribution.
[[nodiscard]] const std::vector<std::string>& SystemCaBundles();

/// Where Java keeps its authorities on this machine, without links: the distributions' places and
/// installations, and those that the two variables lead to (each may be empty). Looks for them.
[[nodiscard]] std::vector<std::string> JavaTrustStores(const std::string& java_home, const std::string& path);

/// Which of the channels one replica has.
struct Channels {
  bool names = false;  ///< Google's names lead to the front: TensorFlow, gsutil, gcloud, curl
  bool files = false;  ///< /gcs/BUCKET
  friend bool operator==(const Channels&, const Channels&) = default;
};

/// What a replica has with (or without) a mount namespace of its own. Looks for the bundle.
[[nodiscard]] Channels FindChannels(const v1::Manifest& manifest, bool has_view);

/// One sentence for the job's log about what is missing; empty if nothing is, or nothing was wanted.
/// `advice`: how this machine gets mount namespaces, if it has none. Pure.
[[nodiscard]] std::string MissingChannels(const v1::Manifest& manifest, bool has_view, const Channels& found,
                                          const std::string& advice = {});

/// Variables that go with the channels; they replace the server's fallbacks of the same names. Pure.
[[nodiscard]] Variables ChannelVariables(const v1::Manifest& manifest, const Channels& found);

/// Our authorities over those of Java in `stores`. `folder`: where kJavaFile is, which is looked for.
[[nodiscard]] std::vector<FileView::Bind> JavaBinds(const std::string& folder,
                                                    const std::vector<std::string>& stores);

/// The buckets' directory at kGcsFolder, then those of the buckets that are elsewhere on the machine below
/// it: only data, whatever a program makes there. One whose place below kGcsFolder is no directory (a program
/// of an earlier server's life replaced it) is left out. Where the manifest names the buckets that the
/// program may use: the places that MakeBucketPlaces made, and those buckets over them. Looks at the
/// directories.
[[nodiscard]] std::vector<FileView::Bind> BucketBinds(const v1::Manifest& manifest);

/// Makes a folder of the attempt's with an empty directory for each bucket that the manifest names. An error
/// means that the program would not see all of its buckets.
[[nodiscard]] Status MakeBucketPlaces(const v1::Manifest& manifest);

/// The directory that the view has to add for the channels: kGcsFolder where the machine has none. Looks for
/// it.
[[nodiscard]] std::vector<std::string> AddedFolders(const Channels& found);

/// What is mounted for the channels. Looks for the places of the system's CA bundles and Java's.
[[nodiscard]] std::vector<FileView::Bind> ChannelBinds(const v1::Manifest& manifest, const Channels& found);

}  // namespace trainyard::replica
