#include "base/directory.h"

#include <fmt/format.h>

#include <utility>

#include "base/regular_file.h"
#include "base/sha256.h"

namespace bantam::convert {
namespace fs = std::filesystem;
namespace {

fs::path normal(const std::string& name) { return fs::path(name).lexically_normal(); }

bool leads_out(const fs::path& folder) { return !folder.empty() && *folder.begin() == ".."; }

}  // namespace

std::shared_ptr<const Directory> Directory::nothing(fs::path root) {
  auto made = std::make_shared<Directory>(std::move(root));
  made->nothing_ = true;
  return made;
}

fs::path Directory::path(const std::string& name) const { return name.empty() ? root_ : root_ / name; }

std::error_code Directory::error() const { return listing("").error; }

Directory::Listing& Directory::listing(const std::string& folder) const {
  const auto [place, is_new] = listings_.try_emplace(folder);
  Listing& listing = place->second;
  if (!is_new || nothing_) return listing;
  // Do not list a folder that its parent does not list.
  if (!folder.empty() && !leads_out(folder) && kind(folder) == Kind::kNothing) return listing;
  const auto kind_of = [](const fs::directory_entry& entry) {
    std::error_code error;
    // The listing already contains the types of its entries, so that they cost no further system call, but not the
    // targets of links.
    if (entry.is_symlink(error) || error) return Kind::kUnknown;
    return entry.is_regular_file(error) ? Kind::kFile : Kind::kOther;
  };
  fs::directory_iterator it(path(folder), listing.error);
  for (const fs::directory_iterator end; !listing.error && it != end; it.increment(listing.error)) {
    listing.entries.emplace(it->path().filename().string(), kind_of(*it));
  }
  return listing;
}

Directory::Kind Directory::kind(const std::string& name) const {
  const fs::path whole = normal(name);
  const std::string leaf = whole.filename().string();
  if (nothing_ || leaf.empty()) return Kind::kNothing;
  Listing& folder = listing(whole.parent_path().generic_string());
  const bool listed = !folder.error || folder.error == std::errc::no_such_file_or_directory ||
                      folder.error == std::errc::not_a_directory;
  // If a folder may be entered but not listed, look each name up once.
  if (!listed) folder.entries.emplace(leaf, Kind::kUnknown);
  const auto found = folder.entries.find(leaf);
  if (found == folder.entries.end()) return Kind::kNothing;
  if (found->second == Kind::kUnknown) {
    std::error_code error;
    const fs::file_status status = fs::status(path(name), error);
    found->second = !fs::exists(status) ? Kind::kNothing : fs::is_regular_file(status) ? Kind::kFile : Kind::kOther;
  }
  return found->second;
}

bool Directory::has(const std::string& name) const { return kind(name) != Kind::kNothing; }
bool Directory::has_file(const std::string& name) const { return kind(name) == Kind::kFile; }

std::vector<std::string> Directory::names(const std::string& folder) const {
  std::vector<std::string> names;
  const std::string key = folder.empty() ? folder : normal(folder).generic_string();
  for (const auto& [name, kind] : listing(key).entries) names.push_back(name);
  return names;
}

std::string Directory::contents(const std::string& name, uint64_t max_bytes) const {
  if (nothing_) throw Error(ExitCode::kIo, fmt::format("{}: no such file", path(name).string()));
  std::string text = read_text_file(path(name), max_bytes);
  Sha256 digest;
  digest.update(text.data(), text.size());
  digests_.emplace(normal(name).generic_string(), digest.finish());
  return text;
}

const Json& Directory::json(const std::string& name) const {
  const auto [place, is_new] = documents_.try_emplace(normal(name).generic_string());
  Document& document = place->second;
  if (is_new) {
    try {
      document.json = parse_json(contents(name, kMaxJsonBytes), path(name).string());
    } catch (const Error& error) {
      document.error = error;
    }
  }
  if (document.error) throw Error(*document.error);
  return document.json;
}

const Json& Directory::object(const std::string& name) const {
  const Json& json = this->json(name);
  require_object(json, path(name).string());
  return json;
}

const Json& Directory::object_or_empty(const std::string& name) const {
  static const Json kEmpty = Json::object();
  return has(name) ? object(name) : kEmpty;
}

const std::string& Directory::text(const std::string& name, uint64_t max_bytes) const {
  const std::string key = normal(name).generic_string();
  const auto known = texts_.find(key);
  return known != texts_.end() ? known->second : texts_.emplace(key, contents(name, max_bytes)).first->second;
}

std::string_view Directory::begin(const std::string& name) const {
  const auto [place, is_new] = begins_.try_emplace(normal(name).generic_string());
  std::string& bytes = place->second;
  if (is_new && has_file(name)) {
    try {
      RegularFile file(path(name));
      bytes.resize(kBegin);
      bytes.resize(file.read(bytes.data(), bytes.size()));
    } catch (const Error&) {
      // A caller that needs more than the start of the file gets an error that says why it cannot be read.
    }
  }
  return bytes;
}

std::string Directory::sha256(const std::string& name) const {
  const auto known = digests_.find(normal(name).generic_string());
  return known != digests_.end() ? known->second : sha256_of_file(path(name));
}

std::map<std::string, const Json*> Directory::documents() const {
  std::map<std::string, const Json*> all;
  for (const auto& [name, document] : documents_) {
    if (!document.error) all.emplace(name, &document.json);
  }
  return all;
}

std::string name_in(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

}  // namespace bantam::convert
