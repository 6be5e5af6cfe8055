# formula_stubs.rb FORMULA VERSION ARCHIVE: the formula loads with what Homebrew's DSL takes, states the archive's checksum, and its
# install and test say only what a formula can.
require "digest"

class Formula
  WORDS = %i[desc homepage url sha256 license].freeze
  class << self
    attr_reader :said, :needs, :checks
    WORDS.each { |word| define_method(word) { |value| (@said ||= {})[word] = value } }
    def depends_on(what) = (@needs ||= []) << what
    def test(&block) = @checks = block
  end
  attr_reader :commands
  def std_cmake_args = ["-DCMAKE_INSTALL_PREFIX=/opt", "-DCMAKE_BUILD_TYPE=Release"]
  def system(*words) = (@commands ||= []) << words
end

formula, version, archive = ARGV
load formula
said = Bantam.said
raise "no field may be missing: #{said}" unless Formula::WORDS.all? { |word| said[word].to_s.length.positive? }
raise "sha256" unless said[:sha256] == Digest::SHA256.file(archive).hexdigest
raise "url: #{said[:url]}" unless said[:url].end_with?("/bantam-#{version}.tar.gz")
raise "desc is too long, or names the formula first" if said[:desc].length > 80 || said[:desc].start_with?("Bantam", "A ", "The ")
package = Bantam.new
package.install
verbs = package.commands.map { |words| words.first(2) }
raise "install: #{verbs}" unless verbs == [["cmake", "-S"], ["cmake", "--build"], ["cmake", "--install"]]
raise "no test" unless Bantam.checks
puts "#{said[:url]}: #{Bantam.needs.length} dependencies"
