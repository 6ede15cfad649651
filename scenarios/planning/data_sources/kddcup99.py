"""KDD Cup 1999: is a network connection an attack? (Stolfo et al. 1999). The tenth of the training data that was published."""

from scenarios.language.table_rules import key
from scenarios.language.value_rules import count
from scenarios.planning.columns import Categorical, Column, Numeric
from scenarios.planning.data_sources import SourceKind
from scenarios.planning.delimited import Format
from scenarios.planning.named_sets import Layout, NamedTable
from scenarios.planning.published import PublishedFile, PublishedSet

KDDCUP99 = PublishedSet(
    title="KDD Cup 1999",
    folder="kddcup99",
    files=(
        PublishedFile(
            name="kddcup.data_10_percent",
            size=74_889_749,
            lines=494_021,
            records=494_021,
            sha256="f8c8267ebcd9c0ed1fd7d6277fe5bfff8732e9b7db8e61b873542b2a534b6f9a",
            sorted_sha256="28bef3039ee6c736bcb8646425102ec144c052fcc24247fdf42ee3b150701a47",
        ),
    ),
    features=118,
    citation="S. Stolfo, W. Fan, W. Lee, A. Prodromidis, P. Chan (1999), doi 10.24432/C51C7N",
    licence="CC BY 4.0",
    published="under doi 10.24432/C51C7N",
)
_WORDS = {
    "protocol_type": "icmp tcp udp",
    "service": (
        "IRC X11 Z39_50 auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i efs exec finger ftp "
        "ftp_data gopher hostnames http http_443 imap4 iso_tsap klogin kshell ldap link login mtp name netbios_dgm "
        "netbios_ns netbios_ssn netstat nnsp nntp ntp_u other pm_dump pop_2 pop_3 printer private red_i remote_job rje "
        "shell smtp sql_net ssh sunrpc supdup systat telnet tftp_u tim_i time urh_i urp_i uucp uucp_path vmnet whois"
    ),
    "flag": "OTH REJ RSTO RSTOS0 RSTR S0 S1 S2 S3 SF SH",
}
_MAXIMA: dict[str, float] = {
    "duration": 58329,
    "protocol_type": 0,
    "service": 0,
    "flag": 0,
    "src_bytes": 693_375_640,
    "dst_bytes": 5_155_468,
    "land": 1,
    "wrong_fragment": 3,
    "urgent": 3,
    "hot": 30,
    "num_failed_logins": 5,
    "logged_in": 1,
    "num_compromised": 884,
    "root_shell": 1,
    "su_attempted": 2,
    "num_root": 993,
    "num_file_creations": 28,
    "num_shells": 2,
    "num_access_files": 8,
    # always 0 in this file, and no maximum is 0
    "num_outbound_cmds": 1,
    "is_host_login": 1,
    "is_guest_login": 1,
    "count": 511,
    "srv_count": 511,
    "serror_rate": 1,
    "srv_serror_rate": 1,
    "rerror_rate": 1,
    "srv_rerror_rate": 1,
    "same_srv_rate": 1,
    "diff_srv_rate": 1,
    "srv_diff_host_rate": 1,
    "dst_host_count": 255,
    "dst_host_srv_count": 255,
    "dst_host_same_srv_rate": 1,
    "dst_host_diff_srv_rate": 1,
    "dst_host_same_src_port_rate": 1,
    "dst_host_srv_diff_host_rate": 1,
    "dst_host_serror_rate": 1,
    "dst_host_srv_serror_rate": 1,
    "dst_host_rerror_rate": 1,
    "dst_host_srv_rerror_rate": 1,
}
"""The columns in the order of the file, with the largest value of those that are numbers."""
_COLUMNS: tuple[Column, ...] = tuple(
    Categorical(name, tuple(_WORDS[name].split())) if name in _WORDS else Numeric(name, maximum)
    for name, maximum in _MAXIMA.items()
)
_ATTACKS = (
    "back buffer_overflow ftp_write guess_passwd imap ipsweep land loadmodule multihop neptune nmap perl phf pod portsweep "
    "rootkit satan smurf spy teardrop warezclient warezmaster"
)
_LAYOUT = Layout(
    Format(names=(*_MAXIMA, "label"), quotes=False),
    _COLUMNS,
    "label",
    {"normal.": -1.0} | {f"{attack}.": 1.0 for attack in _ATTACKS.split()},
)


class KddTable(NamedTable):
    """KDD Cup 1999: 70,000 rows unless more are asked for, drawn with the seed of the data."""

    points: int | None = key(count(), 70_000, words="How many rows are drawn of the pool.")

    def layout(self) -> Layout:
        return _LAYOUT


KIND = SourceKind("kddcup99", KddTable, example={"points": 1000}, published=KDDCUP99)
